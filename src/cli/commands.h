// Commands: everything the program does besides answering one question. Each has a row like a verb's, from which
// parsing, checks and help follow.
#pragma once
#include "cli/options/options.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

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

// Returns a sentence that names the command that a user of another tool meant: "dnheap histogram core.1234" → "dnheap
// stat core.1234 --by retained"; nullopt: the first word is a verb, a file, or known to no tool. Looks whether files
// exist. Throws UsageError if the word has no answer here, or lacks arguments.
std::optional<std::string> meant_command(std::span<const std::string_view> arguments);

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
