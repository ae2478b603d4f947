// Translates SOS' commands, as users of `dotnet-dump analyze` type them, to our verbs and options. A table; a µs; any
// thread.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::cli {

struct SosOption {
  std::string_view theirs, ours; // "-type", "--type"; ours empty: always the case here
  bool has_value = false;
  std::string_view instead = {}; // a sentence; set if dnheap has nothing like it
};

struct SosCommand {
  std::string_view name;
  std::string_view when;               // only with this option, or with an argument ("ADDR"); empty: always
  std::string_view ours;               // "$1" stands for the first argument; without any, arguments are appended
  std::string_view arguments = {};     // their names in messages: "FROM TO"
  std::vector<SosOption> options = {}; // further options
  std::string_view instead = {};       // a sentence; set if dnheap has nothing like it
};

// Returns all commands by name; among equal names the first that fits counts.
std::span<const SosCommand> sos_commands();
// Returns the commands with a typed name: "!DumpHeap"; empty: there is none.
std::vector<const SosCommand *> sos_commands_called(std::string_view word);

// Translates SOS' words to ours, "!DumpHeap -stat" → "stat"; other words pass unchanged. Throws UsageError that names
// missing arguments, an unknown option, or what to ask instead if there is nothing like it.
std::vector<std::string> our_words(const std::vector<std::string> &words);

// Lists all of them with their meaning here, a line each; the second lists one, with its options.
std::string sos_help();
std::string sos_help(std::string_view word);

} // namespace dnheap::cli
