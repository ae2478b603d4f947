#include "cli/shell/sos.h"

#include "cli/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/values.h"
#include "dnheap/address.h"
#include "dnheap/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace dnheap::cli {

namespace {

// Every command by each of its names.
std::vector<SosCommand> all_names() {
  std::vector<SosCommand> out;
  for (const std::span<const SosCommand> table :
       {sos_heap_commands(), sos_process_commands(), mat_commands(), chrome_commands()})
    for (const SosCommand &command : table) {
      out.push_back(command);
      for (std::string_view name : words_of(command.also)) {
        out.push_back(command);
        out.back().name = name;
      }
    }
  return out;
}

const std::vector<SosCommand> &all_commands() {
  static const std::vector<SosCommand> all = all_names();
  return all;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char &c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

bool is_verb(std::string_view word) {
  return std::ranges::find(verbs_and_commands(), word, &Verb::name) != verbs_and_commands().end();
}

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-'; }

// True for options of ours that take the next word.
bool takes_word(std::string_view word) {
  return word.starts_with("--") && word.find('=') == word.npos &&
         std::ranges::any_of(option_table(),
                             [&](const Option &option) { return option.value && option.name == word.substr(2); });
}

bool has_places(const SosCommand &command) { return command.ours.find('$') != command.ours.npos; }

// "-v|--value" → {"-v", "--value"}; options alone: "ADDR" and the like stand for any argument.
std::vector<std::string> options_in(std::string_view when) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < when.size();) {
    const std::size_t end = std::min(when.find('|', at), when.size());
    if (is_option(when.substr(at, end - at)))
      out.push_back(lower(when.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

bool is_when(const SosCommand &command, const std::string &word) {
  const std::vector<std::string> options = options_in(command.when);
  return std::ranges::find(options, lower(word)) != options.end();
}

const SosOption *find_option(const SosCommand &command, const std::string &word) {
  for (const SosOption &option : command.options) {
    const std::vector<std::string_view> also = words_of(option.also);
    const auto is_so = [&](std::string_view spelling) { return lower(spelling) == lower(word); };
    if (is_so(option.theirs) || std::ranges::any_of(also, is_so))
      return &option;
  }
  return nullptr;
}

// "-min:85000" and "-min=85000" are "-min" "85000", as in dotnet-dump.
std::vector<std::string> with_values_apart(const SosCommand &command, const std::vector<std::string> &words) {
  std::vector<std::string> out;
  for (const std::string &word : words) {
    const std::size_t at = is_option(word) ? word.find_first_of(":=") : word.npos;
    const SosOption *option = at == word.npos ? nullptr : find_option(command, word.substr(0, at));
    if (option && option->has_value) {
      out.push_back(word.substr(0, at));
      out.push_back(word.substr(at + 1));
    } else {
      out.push_back(word);
    }
  }
  return out;
}

[[noreturn]] void refuse_option(const SosCommand &command, const std::string &word) {
  std::vector<std::string_view> names;
  for (const SosOption &one : command.options)
    names.push_back(one.theirs);
  std::string known;
  for (std::string_view name : names)
    known += (known.empty() ? "" : ", ") + std::string(name);
  throw UsageError(std::string(command.name) + ": '" + word + "' is not understood here" + did_you_mean(word, names) +
                   (known.empty() ? "" : "; the options known here: " + known));
}

// SOS' MethodTables are hexadecimal without a prefix; here such a word might be a name.
std::string with_prefix(const std::string &number) {
  const bool is_bare = number.find_first_not_of("0123456789abcdefABCDEF`") == number.npos;
  return is_bare ? "0x" + number : number;
}

// The parts of a SOS line.
struct Said {
  std::vector<std::string> arguments, options; // options translated to ours
};

// SOS calls frozen segments "foh".
std::string generation(const std::string &word) { return lower(word) == "foh" ? "frozen" : word; }

// Memory is shown in units that have names here.
std::string unit_of_size(const std::string &size) {
  constexpr std::pair<std::string_view, std::string_view> units[] = {
      {"1", "bytes"}, {"2", "words"}, {"4", "dwords"}, {"8", "qwords"}};
  for (const auto &[number, unit] : units)
    if (size == number)
      return std::string(unit);
  throw UsageError("-l: '" + size + "' is none of 1, 2, 4, 8");
}

std::string translated_value(const SosOption &option, const std::string &value) {
  if (option.ours == "--by")
    return unit_of_size(value);
  return option.theirs == "-mt" ? with_prefix(value) : option.ours == "--gen" ? generation(value) : value;
}

// Translates the option at words[i], and moves i to its value if it has one.
void add_option(const SosCommand &command, const std::vector<std::string> &words, std::size_t &i, Said &to) {
  const std::string &word = words[i];
  const SosOption *option = find_option(command, word);
  if (!option && word.starts_with("--")) { // ours
    to.options.push_back(word);
    if (takes_word(word) && i + 1 < words.size())
      to.options.push_back(words[++i]);
    return;
  }
  if (!option)
    refuse_option(command, word);
  if (!option->instead.empty())
    throw UsageError(std::string(command.name) + ": " + word + ": " + std::string(option->instead));
  for (std::string_view ours : words_of(option->ours))
    to.options.emplace_back(ours);
  if (!option->has_value)
    return;
  if (i + 1 == words.size())
    throw UsageError(std::string(command.name) + ": " + word + " needs a value");
  ++i;
  if (option->ours.ends_with('-')) // "--range $1-": the value ends the word
    to.options.back() += words[i];
  else if (!option->ours.empty())
    to.options.push_back(translated_value(*option, words[i]));
}

Said said(const SosCommand &command, const std::vector<std::string> &typed) {
  const std::vector<std::string> words = with_values_apart(command, typed);
  Said out;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (!is_option(words[i]))
      out.arguments.push_back(words[i]);
    else if (!is_when(command, words[i]))
      add_option(command, words, i, out);
  return out;
}

// True for what is typed as an address, not as a name.
bool is_address(const std::string &word) {
  return (word.starts_with("0x") || (word.size() >= 8 && word[0] >= '0' && word[0] <= '9')) && Address::parse(word);
}

bool fits(const SosCommand &command, const std::vector<std::string> &words) {
  if (command.when.empty())
    return true;
  if (is_option(command.when))
    return std::any_of(words.begin() + 1, words.end(), [&](const std::string &word) { return is_when(command, word); });
  const std::vector<std::string> arguments = said(command, words).arguments;
  return !arguments.empty() && (command.when != "0x" || is_address(arguments[0]));
}

void add_range(const SosCommand &command, const std::vector<std::string> &arguments, std::vector<std::string> &out) {
  if (arguments.empty())
    return;
  if (arguments.size() > 2)
    throw UsageError(std::string(command.name) + " takes " + std::string(command.arguments));
  out.push_back("--range");
  out.push_back(arguments[0] + "-" + (arguments.size() > 1 ? arguments[1] : "ffffffffffffffff"));
}

[[noreturn]] void refuse_arguments(const SosCommand &command) {
  throw UsageError(std::string(command.name) + " takes " + std::string(command.arguments));
}

// Names of queries that menus spell with spaces: "leak suspects" → "leak_suspects".
void join_name(std::vector<std::string> &words) {
  constexpr std::size_t longest = 6; // merge shortest paths to gc roots
  for (std::size_t size = std::min(words.size(), longest); size > 0; --size) {
    std::string name;
    for (std::size_t i = 0; i < size; ++i)
      name += (i ? "_" : "") + words[i];
    std::ranges::replace(name, '-', '_');
    std::ranges::replace(name, ' ', '_');
    if (const auto called = sos_commands_called(name); !called.empty() && name != words[0]) {
      words.erase(words.begin() + 1, words.begin() + static_cast<std::ptrdiff_t>(size));
      words[0] = called.front()->name;
      return;
    }
  }
}

// Returns the words behind "sos" and "ext", as in dotnet-dump and debuggers. There "da" shows memory in the former, and
// an array in the latter: with "!" or an option of dumparray it is that.
std::vector<std::string> meant(std::vector<std::string> words) {
  while (words.size() > 1 && (lower(words[0]) == "sos" || lower(words[0]) == "ext"))
    words.erase(words.begin());
  join_name(words);
  if (words.empty() || (lower(words[0]) != "da" && lower(words[0]) != "!da"))
    return words;
  const std::string of_array[] = {"-start", "-length", "-details", "-nofields"};
  if (words[0][0] == '!' || std::ranges::any_of(words, [&](const std::string &word) {
        return std::ranges::find(of_array, lower(word)) != std::end(of_array);
      }))
    words[0] = "dumparray";
  return words;
}

// Returns null if the words are none of SOS'.
const SosCommand *command_of(const std::vector<std::string> &words) {
  if (words.empty())
    return nullptr;
  const std::vector<const SosCommand *> called = sos_commands_called(words[0]);
  const auto at = std::ranges::find_if(called, [&](const SosCommand *command) { return fits(*command, words); });
  return at == called.end() ? nullptr : *at;
}

// Puts arguments into the places of a word of ours: "$1-$2".
std::string with_values(const SosCommand &command, std::string_view word, const std::vector<std::string> &arguments) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '$') {
      out += word[i];
      continue;
    }
    const std::size_t place = static_cast<std::size_t>(word[++i] - '1');
    if (place >= arguments.size())
      refuse_arguments(command);
    out += command.arguments == "GEN" ? generation(arguments[place]) : arguments[place];
  }
  return out;
}

bool has(const std::vector<std::string> &words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Returns "path TO --from FROM" for "path $2 --from $1".
std::string with_arguments(const SosCommand &command, std::string_view ours) {
  std::vector<std::string> names;
  for (std::string_view name : words_of(command.arguments))
    names.emplace_back(name);
  std::string out;
  for (std::string_view word : words_of(ours))
    out += (out.empty() ? "" : " ") + with_values(command, word, names);
  return out + (ours.ends_with('-') ? "END" : "");
}

bool is_of_arguments(const SosCommand &command) { return command.when == command.arguments || command.when == "0x"; }

// "dumpheap -stat"
std::string theirs_of(const SosCommand &command) {
  std::string out(command.name);
  if (command.when == "0x")
    out += " " + std::string(command.arguments);
  else if (!command.when.empty())
    out += " " + std::string(command.when.substr(0, command.when.find('|')));
  return out;
}

// "gcheapstat -inclUnrooted|-iu"
std::string with_all_options(const SosCommand &command) {
  const std::string_view when = is_of_arguments(command) ? command.arguments : command.when;
  return std::string(command.name) + (when.empty() ? "" : " ") + std::string(when);
}

std::string ours_of(const SosCommand &command) {
  return command.says           ? "an answer of the shell"
         : command.ours.empty() ? "the thread that other commands look at"
                                : with_arguments(command, command.ours);
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

std::vector<std::string> our_words(const std::vector<std::string> &typed, const std::string &thread) {
  const std::vector<std::string> words = meant(typed);
  const SosCommand *command = command_of(words);
  if (!command) {
    std::vector<std::string> out = words; // may be one of our verbs, with SOS' "!"
    if (!out.empty())
      out[0].erase(0, out[0].starts_with('!'));
    const auto inspect = std::ranges::find(verbs_and_commands(), "inspect", &Verb::name);
    if (!out.empty() && std::ranges::find(inspect->subjects, out[0]) != inspect->subjects.end() && !is_verb(out[0]))
      out.insert(out.begin(), "inspect");
    return out;
  }
  Said found = said(*command, words); // an option has a sentence of its own
  if (!command->instead.empty())
    throw UsageError(std::string(command->name) + ": " + std::string(command->instead));
  if (command->ours.empty())
    refuse_arguments(*command);
  if (command->arguments == "QUERY" && !found.arguments.empty()) // quoted, or not
    found.arguments = {fmt::format("{}", fmt::join(found.arguments, " "))};
  std::vector<std::string> out;
  for (std::string_view word : words_of(command->ours))
    out.push_back(with_values(*command, word, found.arguments));
  if (has_places(*command) && found.arguments.size() > words_of(command->arguments).size())
    refuse_arguments(*command);
  if (command->arguments.starts_with("[START"))
    add_range(*command, found.arguments, out);
  else if (!has_places(*command))
    out.insert(out.begin() + 1, found.arguments.begin(), found.arguments.end());
  if (command->arguments == "[THREAD]" && found.arguments.empty() && !thread.empty() && !has(found.options, "--all"))
    out.insert(out.begin() + 1, thread);
  for (const std::string &option : found.options)
    out.push_back(option.starts_with("$") ? with_values(*command, option, found.arguments) : option);
  return out;
}

std::optional<std::string> thread_set_by(const std::vector<std::string> &typed) {
  const std::vector<std::string> words = meant(typed);
  const std::string name = words.empty() ? "" : lower(words[0]);
  if (name != "setthread" && name != "threads")
    return std::nullopt;
  const SosCommand &command = *sos_commands_called("setthread").front();
  for (std::size_t i = 1; i < words.size(); ++i)
    if (name == "threads" && is_option(words[i]) && !find_option(command, words[i]))
      return std::nullopt; // our verb, with options of ours
  const Said found = said(command, words);
  if (name == "threads" && found.arguments.empty())
    return std::nullopt;
  if (found.arguments.size() != 1)
    refuse_arguments(command);
  return found.arguments[0];
}

std::optional<std::string> sos_text(const std::vector<std::string> &typed) {
  const std::vector<std::string> words = meant(typed);
  const SosCommand *command = command_of(words);
  if (!command || !command->says)
    return std::nullopt;
  return command->says(said(*command, words).arguments);
}

std::string help_of_tool(std::string_view tool) {
  struct Tool {
    std::string_view word;
    std::span<const SosCommand> commands;
    std::string_view heading;
  };
  const Tool tools[] = {
      {"sos", all_commands(), "SOS commands and their dnheap equivalents; doc/sos.md says where answers differ:\n"},
      {"mat", mat_commands(), "Eclipse MAT's queries, with _ or spaces; doc/tasks.md shows tasks of its manual:\n"},
      {"chrome", chrome_commands(), "words of Chrome's memory panel; doc/tasks.md shows tasks of its manual:\n"}};
  const auto at = std::ranges::find(tools, tool, &Tool::word);
  if (at == std::end(tools))
    return "";
  std::string out(at->heading);
  for (const SosCommand &command : at->commands)
    if (command.instead.empty() && command.tool == at->commands.front().tool)
      out += fmt::format("  {:<26}{}\n", theirs_of(command), ours_of(command));
  return out;
}

std::string sos_help(std::string_view word) {
  std::string out;
  for (const SosCommand *command : sos_commands_called(word)) {
    if (!command->instead.empty()) {
      out += fmt::format("{}: {}\n", theirs_of(*command), command->instead);
      continue;
    }
    const std::string arguments =
        is_of_arguments(*command) || command->arguments.empty() ? "" : " " + std::string(command->arguments);
    out += fmt::format("{}{} is here: {}\n", with_all_options(*command), arguments, ours_of(*command));
    for (const SosOption &option : command->options)
      out += fmt::format("  {:<24}  {}\n",
                         std::string(option.theirs) + (option.also.empty() ? "" : " ") + std::string(option.also),
                         !option.instead.empty() ? option.instead
                         : option.ours.empty()   ? "always so"
                                                 : with_arguments(*command, option.ours));
  }
  return out;
}

} // namespace dnheap::cli
