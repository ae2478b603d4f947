#include "cli/shell/line_completion.h"

#include "cli/commands.h"
#include "cli/options/option_table.h"
#include "cli/shell/sos.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace dnheap::cli {

namespace {

using Strings = std::vector<std::string>;

// The line up to the cursor: complete words, and the word being typed.
struct Typed {
  Strings words;
  std::string part;          // without quotes
  std::size_t begin = 0;     // position of `part`, or of the quote before it
  char quote = 0;            // the open quote; 0: none
  bool is_elsewhere = false; // after |, > or #, where nothing is completed
};

Typed typed(std::string_view line) {
  Typed out;
  bool has_part = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!has_part)
      out.begin = i;
    if (out.quote) {
      if (c == out.quote)
        out.quote = 0;
      else
        out.part += c;
    } else if (c == '\'' || c == '"') {
      out.quote = c;
      has_part = true;
    } else if (c == ' ' || c == '\t') {
      if (has_part)
        out.words.push_back(std::exchange(out.part, ""));
      has_part = false;
    } else if (c == '|' || c == '>' || (c == '#' && !has_part)) {
      out.is_elsewhere = true;
      return out;
    } else {
      out.part += c;
      has_part = true;
    }
  }
  if (!has_part)
    out.begin = line.size();
  return out;
}

const Verb *verb_called_so(std::string_view name) {
  const auto at = std::ranges::find(verbs_and_commands(), name, &Verb::name);
  return at == verbs_and_commands().end() ? nullptr : &*at;
}

bool is_asked_here(const Verb &verb) { return !find_command(verb) && !verb.takes_records && !verb.records_reads; }

Strings first_words(const Typed &line) {
  Strings out;
  for (const Verb &verb : verbs_and_commands())
    if (is_asked_here(verb))
      out.emplace_back(verb.name);
  if (line.words.empty())
    out.insert(out.end(), {"help", "quit"});
  const auto add_commands = [&](bool of_sos) {
    for (const SosCommand &command : sos_commands())
      if (command.tool.empty() == of_sos && out.back() != command.name)
        out.emplace_back(command.name);
  };
  if (!line.part.empty())
    add_commands(true);
  // Words of other tools are long, and many: only where nothing else fits.
  if (!line.part.empty() &&
      std::ranges::none_of(out, [&](const std::string &name) { return name.starts_with(line.part); }))
    add_commands(false);
  return out;
}

template <class Words> Strings strings(const Words &words) { return Strings(words.begin(), words.end()); }

bool has_table(const Verb &verb, const Format &format) {
  return !format.table || std::ranges::find(verb.tables, std::string_view(format.table)) != verb.tables.end();
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// Returns possible values of an option.
Strings values_of(const Verb &verb, std::string_view option, const KnownNames &known) {
  if (is_one_of(option, {"type", "type-exact", "hub", "struct", "no-instances-of"}))
    return known.types();
  if (is_one_of(option, {"from", "near", "around"}))
    return strings(known.addresses);
  Strings out;
  if (option == "format") {
    for (const Format &format : formats())
      if (has_table(verb, format))
        out.emplace_back(format.name);
    return out;
  }
  for (const Option &one : option_table())
    if (option == one.name)
      return strings(words_of_value(verb, one));
  return out;
}

Strings options_of(const Verb &verb) {
  Strings out;
  for (const Option &option : option_table())
    if (takes(verb, option))
      out.push_back("--" + std::string(option.name));
  return out;
}

Strings subjects_of(const Verb &verb, const Typed &line, const KnownNames &known) {
  if (!verb.subjects.empty())
    return strings(verb.subjects);
  Strings out;
  if (verb.subject.find("ADDR") != verb.subject.npos)
    out = strings(known.addresses);
  const bool is_address = !line.part.empty() && line.part[0] >= '0' && line.part[0] <= '9';
  if (verb.subject.find("TYPE") != verb.subject.npos && !is_address && (out.empty() || !line.part.empty())) {
    const Strings types = known.types();
    out.insert(out.end(), types.begin(), types.end());
  }
  return out;
}

// Completes the line of one of our verbs: its options and words.
Strings words_of_verb(const Verb &verb, const Typed &line, const KnownNames &known) {
  const std::string_view last = line.words.back();
  if (line.words.size() > 1 && last.starts_with("--"))
    for (const Option &option : option_table())
      if (option.value && option.name == last.substr(2))
        return values_of(verb, option.name, known);
  if (line.part.starts_with("-"))
    return options_of(verb);
  return subjects_of(verb, line, known);
}

// Completes the line of a SOS command: SOS' options by their names, and the words and options of our verb behind it.
Strings words_of_sos(const std::vector<const SosCommand *> &commands, const Typed &line, const KnownNames &known) {
  Strings options;
  for (const SosCommand *command : commands) {
    const Verb *verb = verb_called_so(command->ours.substr(0, command->ours.find(' ')));
    for (const SosOption &option : command->options)
      if (verb && option.has_value && option.theirs == line.words.back())
        return values_of(*verb, option.ours.substr(2), known);
    if (command->when.starts_with('-'))
      options.emplace_back(command->when.substr(0, command->when.find('|')));
    for (const SosOption &option : command->options)
      options.emplace_back(option.theirs);
    if (verb && line.part.starts_with("--"))
      for (std::string &ours : options_of(*verb))
        options.push_back(std::move(ours));
  }
  if (line.part.starts_with('-'))
    return options;
  return commands.front()->arguments == "GEN" ? values_of(*verb_called_so("stat"), "gen", known)
                                              : strings(known.addresses);
}

Strings candidates(const Typed &line, const KnownNames &known) {
  if (line.words.empty() || (line.words.size() == 1 && line.words[0] == "help"))
    return first_words(line);
  if (const std::vector<const SosCommand *> commands = sos_commands_called(line.words[0]); !commands.empty())
    return words_of_sos(commands, line, known);
  const Verb *verb = verb_called_so(line.words[0]);
  return verb && is_asked_here(*verb) ? words_of_verb(*verb, line, known) : Strings();
}

// True for "Order" in "Shop.Order": at the beginning of a part of the name, before any generic arguments.
bool has_part_that_begins(const std::string &name, const std::string &with) {
  const std::size_t end = std::min(name.find('<'), name.size());
  for (std::size_t at = name.find(with); at < end; at = name.find(with, at + 1))
    if (at && (name[at - 1] == '.' || name[at - 1] == '+'))
      return true;
  return false;
}

std::string common_start(const Strings &words) {
  std::string out = words.front();
  for (const std::string &word : words)
    out.resize(static_cast<std::size_t>(std::ranges::mismatch(out, word).in1 - out.begin()));
  while (!out.empty() && static_cast<unsigned char>(out.back()) >= 0x80) // do not cut a character
    out.pop_back();
  return out;
}

// False if no quotes, or not the open ones, make one word of it: it may come from a dump, and be made for that.
bool can_be_quoted(const std::string &word, char open) {
  return open ? word.find(open) == word.npos : word.find('\'') == word.npos || word.find('"') == word.npos;
}

// Quotes a word so that parse_line() takes it for one word.
std::string quoted_word(const std::string &word, char open, bool is_whole) {
  const char quote = open                                           ? open
                     : word.find_first_of(" \t|>#'\"") == word.npos ? 0
                     : word.find('\'') == word.npos                 ? '\''
                                                                    : '"';
  std::string out = quote ? quote + word : word;
  if (quote && is_whole)
    out += quote;
  return is_whole ? out + " " : out;
}

} // namespace

Completion complete(std::string_view before, const KnownNames &known) {
  const Typed line = typed(before);
  Completion out{line.begin, std::string(before.substr(line.begin)), {}};
  if (line.is_elsewhere)
    return out;
  Strings all = candidates(line, known), fitting;
  std::erase_if(all, [&](const std::string &word) { return !can_be_quoted(word, line.quote); });
  std::ranges::copy_if(all, std::back_inserter(fitting),
                       [&](const std::string &word) { return word.starts_with(line.part); });
  const bool begins_so = !fitting.empty();
  if (!begins_so)
    std::ranges::copy_if(all, std::back_inserter(fitting),
                         [&](const std::string &word) { return has_part_that_begins(word, line.part); });
  Strings once;
  std::unordered_set<std::string> seen;
  for (std::string &word : fitting)
    if (seen.insert(word).second)
      once.push_back(std::move(word));
  std::ranges::stable_partition(once, [&](const std::string &word) { return word == line.part; });
  if (once.size() == 1)
    out.text = quoted_word(once.front(), line.quote, true);
  else if (!once.empty()) {
    if (const std::string start = common_start(once); begins_so && start.size() > line.part.size())
      out.text = quoted_word(start, line.quote, false);
    out.choices = std::move(once);
  }
  return out;
}

} // namespace dnheap::cli
