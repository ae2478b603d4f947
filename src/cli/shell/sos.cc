#include "cli/shell/sos.h"

#include "cli/options/option_table.h"
#include "cli/options/values.h"
#include "dnheap/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace dnheap::cli {

namespace {

using SosOptions = std::vector<SosOption>;

const SosOptions &of_objects() {
  static const SosOptions all = {{"-type", "--type", true}, {"-mt", "--type-exact", true},
                                 {"-min", "--min", true},   {"-max", "--max", true},
                                 {"-live", "--live"},       {"-dead", "--dead"},
                                 {"-gen", "--gen", true},   {"-short", "--format addresses"}};
  return all;
}

const std::vector<SosCommand> &long_commands() {
  static constexpr std::string_view range = "[START [END]]";
  static const std::vector<SosCommand> all = {
      {"dumpheap", "-stat", "stat", range, of_objects()},
      {"dumpheap", "-strings", "strings --values", "", {{"-live", "--live"}, {"-dead", "--dead"}}},
      {"dumpheap", "", "objects", range, of_objects()},
      {"gcroot", "", "path", "ADDR", {{"-all", "--all"}, {"-nostacks", "--no-stacks"}}},
      {"pathto", "", "path $2 --from $1", "FROM TO"},
      {"objsize", "", "show --closure --table object", "ADDR"},
      {"dumpobj", "", "show --values", "ADDR", {{"-nofields", "--table object"}}},
      {"dumparray",
       "",
       "show --values",
       "ADDR",
       {{"-length", "--top", true},
        {"-details", ""},
        {"-nofields", ""},
        {"-start", "", true, "elements are always listed from the first one on; -length limits their number"}}},
      {"dumpvc", "", "show $2 --struct $1 --values", "MT ADDR"},
      {"dumpmt", "", "show", "MT", {{"-md", "", false, "methods are not listed; dumpmt without it shows the type"}}},
      {"dumpobjgcrefs", "", "show --table references", "ADDR"},
      {"gcwhere", "", "show --table object", "ADDR"},
      {"listnearobj", "", "objects --near $1", "ADDR"},
      {"dumpgen",
       "",
       "stat --gen $1",
       "GEN",
       {{"-type", "--type", true}, {"-mt", "--type-exact", true}, {"-stat", ""}}},
      {"sizestats", "", "objects --by size"},
      {"ephrefs", "", "stat --refers-to younger"},
      {"ephtoloh", "", "stat --gen gen0 --refers-to loh"},
      {"eeheap", "-gc", "segments"},
      {"eeheap", "", "account", "", {{"-loader", ""}}},
      {"gcheapstat", "", "segments --table generations"},
      {"gchandles", "", "handles", "", {{"-stat", "--table kinds"}}},
      {"finalizequeue",
       "",
       "inspect finalizers",
       "",
       {{"-stat", ""},
        {"-detail", ""},
        {"-short", "", false,
         "objects are summed by type here, each type with an example; objects --type-exact NAME lists all objects of a "
         "type"}}},
      {"verifyheap", "", "verify"},
      {"analyzeoom", "", "gc --table oom"},
      {"eeversion", "", "info"},
      {"clrmodules", "", "info --table assemblies"},
      {"modules", "", "info --table images"},
      {"threads", "-special", "", "", {}, "threads that never ran managed code are not listed; threads lists the rest"},
      {"clrthreads",
       "-special",
       "",
       "",
       {},
       "threads that never ran managed code are not listed; threads lists the rest"},
      {"clrthreads", "", "threads"},
      {"clrstack",
       "",
       "stack",
       "[THREAD]",
       {{"-all", "--all"}, {"-a", "--roots"}, {"-l", "--roots"}, {"-p", "--roots"}, {"-f", ""}}},
      {"dumpstackobjects", "", "stack --roots", "[THREAD]"},
      {"parallelstacks", "", "stack --all --merge", "", {{"-a", ""}}},
      {"pe", "ADDR", "exceptions --values", "ADDR"},
      {"pe", "", "exceptions --values"},
      {"printexception", "ADDR", "exceptions --values", "ADDR"},
      {"printexception", "", "exceptions --values"},
      {"dumpexceptions", "", "exceptions --values"},
      {"syncblk", "", "locks", "", {{"-all", ""}}},
      {"threadpool", "", "async --table pool"},
      {"threadpoolqueue", "", "async --table queued"},
      {"dumpasync", "", "async", "", {{"-stats", ""}, {"-coalesce", ""}}},
      {"timerinfo", "", "inspect timers"},
      {"dumphttp", "", "inspect http"},
      {"dumprequests", "", "inspect requests"},
      {"setthread", "", "", "", {}, "there is no current thread here: stack THREAD shows the stack of one"},
      {"name2ee", "", "", "", {}, "write the type's name itself: objects --type-exact NAME, path NAME"},
      {"dumpmodule", "", "", "", {}, "info --table images lists the modules; their contents are not shown"},
      {"dumpdomain", "", "", "", {}, "info --table assemblies lists what is loaded"},
      {"dumpil", "", "", "", {}, "code is not shown here"},
      {"clru", "", "", "", {}, "code is not shown here"},
      {"u", "", "", "", {}, "code is not shown here"},
      {"dumpmd", "", "", "", {}, "code is not shown here; stack names the methods"},
      {"dumpclass", "", "", "", {}, "dumpmt shows a type, objects --type-exact its objects"},
      {"traverseheap", "", "", "", {}, "export --as gcdump, heapsnapshot or ndjson writes the heap for other tools"},
      {"ip2md", "", "", "", {}, "code is not shown here; stack names the methods"},
  };
  return all;
}

// Short names. Each is listed as a command of its own, after the long one.
constexpr std::pair<std::string_view, std::string_view> short_names[] = {
    {"do", "dumpobj"},       {"da", "dumparray"},         {"lno", "listnearobj"},
    {"fq", "finalizequeue"}, {"vh", "verifyheap"},        {"ao", "analyzeoom"},
    {"lm", "modules"},       {"dso", "dumpstackobjects"}, {"pstacks", "parallelstacks"},
    {"tp", "threadpool"},    {"tpq", "threadpoolqueue"},  {"ti", "timerinfo"}};

const std::vector<SosCommand> &all_commands() {
  static const std::vector<SosCommand> all = [] {
    std::vector<SosCommand> out;
    for (const SosCommand &command : long_commands()) {
      out.push_back(command);
      for (const auto &[name, of] : short_names)
        if (of == command.name) {
          out.push_back(command);
          out.back().name = name;
        }
    }
    return out;
  }();
  return all;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char &c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-'; }

// True for options of ours that take the next word.
bool takes_word(std::string_view word) {
  return word.starts_with("--") && word.find('=') == word.npos &&
         std::ranges::any_of(option_table(),
                             [&](const Option &option) { return option.value && option.name == word.substr(2); });
}

bool has_places(const SosCommand &command) { return command.ours.find('$') != command.ours.npos; }

// SOS' MethodTables are hexadecimal without a prefix; here such a word might be a name.
std::string with_prefix(const std::string &number) {
  const bool is_bare = number.find_first_not_of("0123456789abcdefABCDEF`") == number.npos;
  return is_bare ? "0x" + number : number;
}

// The parts of a SOS line.
struct Said {
  std::vector<std::string> arguments, options; // options translated to ours
  bool when = false;                           // the line has the word SosCommand::when
};

Said said(const SosCommand &command, const std::vector<std::string> &words) {
  Said out;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (!is_option(word)) {
      out.arguments.push_back(word);
      continue;
    }
    if (word.starts_with("--")) { // ours
      out.options.push_back(word);
      if (takes_word(word) && i + 1 < words.size())
        out.options.push_back(words[++i]);
      continue;
    }
    const std::string small = lower(word);
    if (small == command.when) {
      out.when = true;
      continue;
    }
    const auto option = std::ranges::find(command.options, small, &SosOption::theirs);
    if (option == command.options.end()) {
      std::string known;
      for (const SosOption &one : command.options)
        known += (known.empty() ? "" : ", ") + std::string(one.theirs);
      throw UsageError(std::string(command.name) + ": " + word + " is not understood here" +
                       (known.empty() ? "" : "; the options known here: " + known));
    }
    if (!option->instead.empty())
      throw UsageError(std::string(command.name) + ": " + word + ": " + std::string(option->instead));
    for (std::string_view ours : words_of(option->ours))
      out.options.emplace_back(ours);
    if (!option->has_value)
      continue;
    if (i + 1 == words.size())
      throw UsageError(std::string(command.name) + ": " + word + " needs a value");
    const std::string &value = words[++i];
    out.options.push_back(option->theirs == "-mt" ? with_prefix(value) : value);
  }
  out.when |= command.when == "ADDR" && !out.arguments.empty();
  return out;
}

bool fits(const SosCommand &command, const std::vector<std::string> &words) {
  if (command.when.empty())
    return true;
  if (is_option(command.when))
    return std::any_of(words.begin() + 1, words.end(),
                       [&](const std::string &word) { return lower(word) == command.when; });
  return words.size() > 1 && !is_option(words[1]);
}

// SOS calls frozen segments "foh".
std::string generation(std::string word) { return lower(word) == "foh" ? "frozen" : word; }

void add_range(const SosCommand &command, const std::vector<std::string> &arguments, std::vector<std::string> &out) {
  if (arguments.empty())
    return;
  if (arguments.size() > 2)
    throw UsageError(std::string(command.name) + " takes " + std::string(command.arguments));
  out.push_back("--range");
  out.push_back(arguments[0] + "-" + (arguments.size() > 1 ? arguments[1] : "ffffffffffffffff"));
}

// Returns "path TO --from FROM".
std::string with_arguments(const SosCommand &command) {
  const std::vector<std::string_view> arguments = words_of(command.arguments);
  std::string out;
  for (std::string_view word : words_of(command.ours))
    out += (out.empty() ? "" : " ") +
           std::string(word[0] == '$' ? arguments.at(static_cast<std::size_t>(word[1] - '1')) : word);
  return out;
}

} // namespace

std::span<const SosCommand> sos_commands() { return all_commands(); }

std::vector<const SosCommand *> sos_commands_called(std::string_view word) {
  const std::string name = lower(word.substr(word.starts_with('!')));
  std::vector<const SosCommand *> out;
  for (const SosCommand &command : all_commands())
    if (command.name == name)
      out.push_back(&command);
  return out;
}

std::vector<std::string> our_words(const std::vector<std::string> &words) {
  if (words.empty())
    return words;
  if (words.size() > 1 && (lower(words[0]) == "sos" || lower(words[0]) == "ext")) // as in dotnet-dump and debuggers
    return our_words({words.begin() + 1, words.end()});
  const std::vector<const SosCommand *> called = sos_commands_called(words[0]);
  const auto at = std::ranges::find_if(called, [&](const SosCommand *command) { return fits(*command, words); });
  if (at == called.end()) {
    std::vector<std::string> out = words; // may be one of our verbs, with SOS' "!"
    out[0].erase(0, out[0].starts_with('!'));
    return out;
  }
  const SosCommand &command = **at;
  if (!command.instead.empty())
    throw UsageError(std::string(command.name) + ": " + std::string(command.instead));
  const Said found = said(command, words);
  std::vector<std::string> out;
  for (std::string_view word : words_of(command.ours)) {
    if (word[0] != '$') {
      out.emplace_back(word);
      continue;
    }
    const std::size_t place = static_cast<std::size_t>(word[1] - '1');
    if (place >= found.arguments.size())
      throw UsageError(std::string(command.name) + " takes " + std::string(command.arguments));
    out.push_back(command.arguments == "GEN" ? generation(found.arguments[place]) : found.arguments[place]);
  }
  if (has_places(command) && found.arguments.size() > words_of(command.arguments).size())
    throw UsageError(std::string(command.name) + " takes " + std::string(command.arguments));
  if (command.arguments.starts_with("[START"))
    add_range(command, found.arguments, out);
  else if (!has_places(command))
    out.insert(out.begin() + 1, found.arguments.begin(), found.arguments.end());
  out.insert(out.end(), found.options.begin(), found.options.end());
  return out;
}

std::string sos_help() {
  std::string out = "SOS commands and their dnheap equivalents; doc/sos.md says where answers differ:\n";
  for (const SosCommand &command : all_commands()) {
    const std::string theirs =
        std::string(command.name) + (command.when.empty() ? "" : " " + std::string(command.when));
    if (command.instead.empty())
      out += fmt::format("  {:<22}{}\n", theirs, with_arguments(command));
  }
  return out;
}

std::string sos_help(std::string_view word) {
  std::string out;
  for (const SosCommand *command : sos_commands_called(word)) {
    if (!command->instead.empty()) {
      out += fmt::format("{}: {}\n", command->name, command->instead);
      continue;
    }
    const bool is_argument = command->when == command->arguments;
    std::string theirs(command->name);
    for (std::string_view part : {command->when, is_argument ? std::string_view() : command->arguments})
      theirs += part.empty() ? "" : " " + std::string(part);
    out += fmt::format("{} is here: {}\n", theirs, with_arguments(*command));
    for (const SosOption &option : command->options)
      out += fmt::format("  {:<12}{}\n", option.theirs,
                         !option.instead.empty() ? option.instead
                         : option.ours.empty()   ? "always so"
                                                 : option.ours);
  }
  return out;
}

} // namespace dnheap::cli
