// Commands: everything the program does besides answering one question. Each has a row like a verb's, from which
// parsing, checks and help follow.
#pragma once
#include "cli/options/options.h"

namespace dnheap::cli {

struct Command {
  Verb words;
  // Returns the exit code; throws as verbs do.
  int (*run)(const Options &options, Progress &progress);
};

// Returns all verbs, then all commands, in the order of the help.
std::span<const Verb> verbs_and_commands();
// Returns null for a verb.
const Command *find_command(const Verb &words);

// Answers one line after the other until the input ends, or until `quit`.
int shell(const Options &options, Progress &progress);

// Prints a shell's completion script.
int completion(const Options &options, Progress &progress);

// Answers requests of the Model Context Protocol until the input ends.
int mcp(const Options &options, Progress &progress);

// Shows what the threads of a process do, over some seconds.
int sample(const Options &options, Progress &progress);

// Has a process write a dump of itself.
int collect(const Options &options, Progress &progress);

// Watches a process until it ends, or until Ctrl-C.
int watch(const Options &options, Progress &progress);

// Serves a page until Ctrl-C.
int explore(const Options &options, Progress &progress);

// `report --html`: writes the page to that file.
int write_page(const Options &options, Progress &progress);

} // namespace dnheap::cli
