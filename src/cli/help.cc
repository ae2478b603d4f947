#include "cli/help.h"

#include "cli/commands.h"
#include "cli/manual.h"
#include "cli/options/values.h"
#include "dnheap/version.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap::cli {

namespace {

constexpr std::size_t page_width = 100;

// Returns the words of `text` in lines of at most page_width, all but the first indented.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (std::string_view word : words_of(text)) {
    if (column > indent && column + 1 + word.size() > page_width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

// Puts all "--" in one column.
std::string aligned_syntax_of(const Option &option) { return (option.letter ? "" : "    ") + syntax_of(option); }

// Returns one block of options: those for which `wanted` is true.
template <class Test> std::string option_lines(Test wanted) {
  std::size_t width = 0;
  for (const Option &option : option_table())
    width = std::max(width, aligned_syntax_of(option).size());
  std::string out;
  for (const Option &option : option_table())
    if (wanted(option))
      out += fmt::format("  {:<{}}  {}\n", aligned_syntax_of(option), width, wrapped(option.help, width + 4));
  return out;
}

// Scripts can rely on these.
constexpr ExitCode codes[] = {
    {0, "answered"},
    {1, "a limit of check is exceeded"},
    {2, "wrong usage"},
    {3, "cannot open, understand or write"},
    {4, "the answer is incomplete (with --strict; check: unread memory may exceed a limit)"},
    {5, "what was asked for (an address, a type) is not in the dump"},
    {6, "watch: the process has ended"},
    {130, "interrupted"},
};

constexpr Example shown[] = {
    {"dnheap core.1234", "what fills the memory, and who holds it"},
    {"dnheap -p 1234", "the same for a running process"},
    {"dnheap stat core.1234.zst --type '^Shop\\.' --top 50", ""},
    {"dnheap objects core.1234 --gen loh --min 1M --format csv -o large.csv", ""},
};

} // namespace

std::span<const ExitCode> exit_codes() { return codes; }
std::span<const Example> examples() { return shown; }

std::string syntax_of(const Option &option) {
  std::string out =
      option.letter ? fmt::format("-{}, --{}", option.letter, option.name) : fmt::format("--{}", option.name);
  return option.value ? out + " " + option.value : out;
}

bool is_common(const Option &option) {
  const Needs *needs = std::get_if<Needs>(&option.needs);
  return needs && (*needs == Needs::nothing || *needs == Needs::target || *needs == Needs::answer);
}

std::string general_help(std::span<const Verb> verbs) {
  std::string out =
      fmt::format("dnheap {}: {}\n\nusage: dnheap VERB TARGET [options]\n", library_version(), program_text);
  out += fmt::format("       dnheap FILE                  the same as: dnheap {} FILE\n\n", verbs.front().name);
  out += wrapped(target_text, 0) + "\n";
  std::string_view group;
  for (const Verb &verb : verbs) {
    if (verb.group != group)
      out += fmt::format("\n{}:\n", group = verb.group);
    out += fmt::format("  {:<12}{}\n", verb.name, verb.question);
  }
  out += "\n'dnheap VERB --help' shows more about a verb, and so does 'dnheap help VERB'.\n\n"
         "options of some verbs:\n" +
         option_lines([](const Option &option) { return !is_common(option); }) + "\noptions of every verb:\n" +
         option_lines(is_common);
  out += fmt::format("\n{}\n\nexit codes:\n", size_text);
  for (const ExitCode &code : exit_codes())
    out += fmt::format("  {:<5}{}\n", code.code, code.meaning);
  out += "\nexamples:\n";
  for (const Example &example : examples())
    out += *example.meaning ? fmt::format("  {:<48}{}\n", example.command, example.meaning)
                            : fmt::format("  {}\n", example.command);
  return out;
}

std::string help_for(const Options &options) {
  if (options.manual)
    return manual_page(verbs_and_commands());
  return options.verb ? verb_help(*options.verb) : general_help(verbs_and_commands());
}

std::string shell_help(std::span<const Verb> verbs) {
  std::string out = "Each line asks one thing of the open dump: a verb and its options, without the file's name.\n\n";
  for (const Verb &verb : verbs)
    if (!find_command(verb) && !verb.takes_records && !verb.records_reads && verb.needs_target) {
      std::string asked(verb.name);
      if (!verb.subject.empty())
        asked += " " + (verb.subject_is_optional ? "[" + std::string(verb.subject) + "]" : std::string(verb.subject));
      out += fmt::format("  {:<22}{}\n", asked, verb.question);
    }
  return out +
         "\n"
         "  stat --top 5 | less    also > FILE and >> FILE\n"
         "  show @2                row 2 of the last answer\n"
         "  help stat, stat -?     a verb's options, tables and columns\n"
         "  dumpheap -stat …       SOS' commands are understood: 'help sos' lists them, 'help dumpheap' shows one\n"
         "  leak suspects          so are the names of Eclipse MAT's queries, and Chrome's words: 'help mat', 'help "
         "chrome'\n"
         "  quit                   or Ctrl-D; Ctrl-C ends a question; TAB completes words, Ctrl-R finds earlier "
         "lines\n";
}

std::string verb_help(const Verb &verb) {
  std::string out = fmt::format("dnheap {}: {}\n\n{}\n\n", verb.name, verb.question, usage_of(verb));
  for (std::string_view rest = verb.details; !rest.empty();) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    out += wrapped(rest.substr(0, end), 0) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!verb.details.empty())
    out += "\n";
  if (!verb.tables.empty())
    out += fmt::format("tables (--table): {}\n", fmt::join(verb.tables, ", "));
  if (!verb.sort_columns.empty())
    out += fmt::format("columns to sort by (--sort): {}\n", fmt::join(verb.sort_columns, ", "));
  if (!verb.by.empty())
    out += fmt::format("words for --by: {}\n", fmt::join(verb.by, ", "));
  if (!verb.as.empty())
    out += fmt::format("files (--as): {}\n", fmt::join(verb.as, ", "));
  std::string own = option_lines([&](const Option &option) { return !is_common(option) && takes(verb, option); });
  if (!own.empty())
    out += "\noptions of this verb:\n" + own;
  auto common = [&](const Option &option) { return is_common(option) && takes(verb, option); };
  return out + "\noptions of every verb:\n" + option_lines(common);
}

} // namespace dnheap::cli
