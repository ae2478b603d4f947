// Commands: what the program does besides answering one question. Each has a row of words as verbs have, so that
// parsing, checks and help follow from it.
#pragma once
#include "cli/options/options.h"

namespace dnheap::cli {

struct Command {
  Verb words;
  std::string_view group; // of the help: "until you end it"
  // Returns the exit code; throws as verbs do.
  int (*run)(const Options &options, Progress &progress);
};

// In the order of the help: all verbs, then all commands.
std::span<const Verb> verbs_and_commands();
// Null: it is a verb.
const Command *find_command(const Verb &words);

// Answers one line after the other until the input ends, or `quit`.
int shell(const Options &options, Progress &progress);

// Prints what a shell is to know of the program.
int completion(const Options &options, Progress &progress);

// Answers requests of the Model Context Protocol until the input ends.
int mcp(const Options &options, Progress &progress);

// Looks at a process until that ends, or Ctrl-C.
int watch(const Options &options, Progress &progress);

// Serves a page until Ctrl-C.
int explore(const Options &options, Progress &progress);

// `report --html`: writes the page to that file.
int write_page(const Options &options, Progress &progress);

} // namespace dnheap::cli
