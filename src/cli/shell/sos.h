// SOS' commands in our words: what fingers that know `dotnet-dump analyze` type, as a verb with its options. A table; a
// µs; any thread.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::cli {

struct SosOption {
  std::string_view theirs, ours; // "-type", "--type"; ours empty: what is so here in any case
  bool has_value = false;
  std::string_view instead = {}; // of what is not there: a sentence
};

struct SosCommand {
  std::string_view name;
  std::string_view when;               // only with this option, or with an argument ("ADDR"); empty: always
  std::string_view ours;               // "$1" stands for the first argument; without any, arguments stand behind it
  std::string_view arguments = {};     // as a message names them: "FROM TO"
  std::vector<SosOption> options = {}; // what else it takes
  std::string_view instead = {};       // of what is not there: a sentence
};

// By name; of equal names the first that fits counts.
std::span<const SosCommand> sos_commands();
// By its name as it is typed: "!DumpHeap"; empty: there is none.
std::vector<const SosCommand *> sos_commands_called(std::string_view word);

// SOS' words in ours, and what are none of SOS' as they are: "!DumpHeap -stat" → "stat". Throws UsageError: which
// arguments are missing, which option is not understood, or what to ask instead where there is nothing like it.
std::vector<std::string> our_words(const std::vector<std::string> &words);

// All of them with what they are here, a line each; and one by itself, with its options.
std::string sos_help();
std::string sos_help(std::string_view word);

} // namespace dnheap::cli
