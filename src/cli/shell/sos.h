// Translates what users of other tools type to our verbs and options: SOS' commands, as in `dotnet-dump analyze`, from
// two tables of which doc/sos.md is made, too (test/shell/sos_doc_test.py --write); queries of Eclipse MAT; and what
// Chrome's memory panel calls its views. A µs; any thread.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::cli {

struct SosOption {
  std::string_view theirs;
  std::string_view ours = {}; // "--type"; empty: always the case here; "--range $1-": the value ends the word
  bool has_value = false;
  std::string_view instead = {}; // a sentence; set if dnheap has nothing like it
  std::string_view also = {};    // other spellings: "--type -t"
};

struct SosCommand {
  std::string_view name;
  std::string_view also = {}; // its other names: "do"
  // Only with this option, with an argument ("ADDR"), or with one that is an address ("0x"); empty: always.
  std::string_view when = {};
  std::string_view ours = {};          // "$1" stands for the first argument; without any, arguments are appended
  std::string_view arguments = {};     // their names in messages: "FROM TO"
  std::vector<SosOption> options = {}; // further options
  std::string_view instead = {};       // a sentence; set if dnheap has nothing like it
  std::string_view differs = {};       // for doc/sos.md: in what the answer is another
  // An answer of the shell's own, which needs no dump; null: `ours` says what is asked.
  std::string (*says)(const std::vector<std::string> &arguments) = nullptr;
  std::string_view tool = {}; // whose word it is; empty: SOS'
};

// The tables: what looks at objects and memory, and what looks at the process.
std::span<const SosCommand> sos_heap_commands();
std::span<const SosCommand> sos_process_commands();
// The words of other tools.
std::span<const SosCommand> mat_commands();
std::span<const SosCommand> chrome_commands();

// Returns all commands of all tools by name, also by their other names; among equal names the first that fits counts.
std::span<const SosCommand> sos_commands();
// Returns the commands with a typed name: "!DumpHeap"; empty: there is none. Those of SOS are the first.
std::vector<const SosCommand *> sos_commands_called(std::string_view word);

// Translates others' words to ours, "!DumpHeap -stat" → "stat", "leak suspects" → "report"; an inspector's name alone,
// "timers", is "inspect timers". Other words pass unchanged. `thread`: the current one, for commands that look at a
// thread; empty: none. Throws UsageError that names missing arguments, an unknown option, or what to ask instead if
// there is nothing like it.
std::vector<std::string> our_words(const std::vector<std::string> &words, const std::string &thread = "");

// Returns the thread that the words make the current one: "setthread 7", "threads -t 0x4c76"; nullopt: they ask for
// something else.
std::optional<std::string> thread_set_by(const std::vector<std::string> &words);
// Returns what the shell itself answers: "threadstate 20020"; nullopt: the words ask for something else. Throws
// UsageError.
std::optional<std::string> sos_text(const std::vector<std::string> &words);

// Lists all of SOS', MAT's or Chrome's ("sos", "mat", "chrome") with their meaning here, a line each; empty: there is
// no such list. The second lists one command, with its options.
std::string help_of_tool(std::string_view tool);
std::string sos_help(std::string_view word);

} // namespace dnheap::cli
