#include "cli/help.h"

#include "cli/commands.h"
#include "cli/values.h"
#include "dnheap/version.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap::cli {

namespace {

constexpr std::size_t page_width = 100;

// Words of `text` in lines of at most page_width, every line but the first indented.
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

std::string syntax_of(const Option &option) {
  std::string out =
      option.letter ? fmt::format("-{}, --{}", option.letter, option.name) : fmt::format("    --{}", option.name);
  return option.value ? out + " " + option.value : out;
}

// One block of options: those for which `wanted` holds.
template <class Test> std::string option_lines(Test wanted) {
  std::size_t width = 0;
  for (const Option &option : option_table())
    width = std::max(width, syntax_of(option).size());
  std::string out;
  for (const Option &option : option_table())
    if (wanted(option))
      out += fmt::format("  {:<{}}  {}\n", syntax_of(option), width, wrapped(option.help, width + 4));
  return out;
}

bool is_common(const Option &option) {
  const Needs *needs = std::get_if<Needs>(&option.needs);
  return needs && (*needs == Needs::nothing || *needs == Needs::target || *needs == Needs::answer);
}

} // namespace

std::string general_help(std::span<const Verb> verbs) {
  std::string out = fmt::format("dnheap {}: what is in the managed heap of a .NET process, live or from its dump\n\n"
                                "usage: dnheap VERB TARGET [options]\n",
                                library_version());
  out += fmt::format("       dnheap FILE                  the same as: dnheap {} FILE\n\n", verbs.front().name);
  out += "TARGET is a Linux core dump or a Windows minidump, plain or compressed (.zst, .gz); or, with -p PID,\n"
         "a process that runs here.\n\nverbs:\n";
  auto add_line = [&](const Verb &verb) { out += fmt::format("  {:<12}{}\n", verb.name, verb.question); };
  for (const Verb &verb : verbs)
    if (!find_command(verb))
      add_line(verb);
  out += "and, until you end it:\n";
  for (const Verb &verb : verbs)
    if (find_command(verb))
      add_line(verb);
  out += "'dnheap VERB --help' tells more about a verb.\n\n"
         "options of some verbs:\n" +
         option_lines([](const Option &option) { return !is_common(option); }) + "\noptions of every verb:\n" +
         option_lines(is_common);
  out += "\nSIZE is in bytes, or with k, M, G or T (powers of 1024): 4096, 10k, 1.5GiB.\n\n"
         "exit codes: 0 answered; 1 a limit of check is exceeded; 2 wrong usage;\n"
         "            3 cannot open, understand or write;\n"
         "            4 answered, but part of the heap could not be read (with --strict);\n"
         "            5 what was asked for (an address, a type) is not in the dump; 130 interrupted\n\n"
         "examples:\n"
         "  dnheap core.1234                                what fills the memory, and who holds it\n"
         "  dnheap -p 1234                                  the same of a process that runs here\n"
         "  dnheap stat core.1234.zst --type '^Shop\\.' --top 50\n"
         "  dnheap objects core.1234 --gen loh --min 1M --format csv -o large.csv\n";
  return out;
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
