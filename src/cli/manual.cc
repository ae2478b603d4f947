#include "cli/manual.h"

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options/option_table.h"
#include "dnheap/version.h"

#include <fmt/format.h>

namespace dnheap::cli {

namespace {

// Returns the code point that begins at `at`, and moves `at` past it. For our own texts: valid UTF-8.
char32_t next_character(std::string_view text, std::size_t &at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80)
    return first;
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  char32_t out = first & (0x3f >> more);
  for (int i = 0; i < more && at < text.size(); ++i)
    out = out << 6 | (static_cast<unsigned char>(text[at++]) & 0x3f);
  return out;
}

// Escapes a text so that roff shows it unchanged: hyphens can be copied, and no line becomes a request.
std::string escaped(std::string_view text) {
  std::string out = text.starts_with('.') ? "\\&" : "";
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    switch (c) {
    case '\\': out += "\\e"; break;
    case '-': out += "\\-"; break;
    case '\'': out += "\\(aq"; break;
    case '`': out += "\\(ga"; break;
    case '^': out += "\\(ha"; break;
    case '~': out += "\\(ti"; break;
    default: out += c < 0x80 ? std::string(1, static_cast<char>(c)) : fmt::format("\\[u{:04X}]", std::uint32_t(c));
    }
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }

// Returns "-o, --output FILE" with the value in italics.
std::string syntax_line(const Option &option) {
  const std::string syntax = syntax_of(option);
  if (!option.value)
    return bold(syntax);
  const std::size_t value = syntax.size() - std::string_view(option.value).size();
  return bold(std::string_view(syntax).substr(0, value)) + "\\fI" + escaped(option.value) + "\\fR";
}

template <class Words> std::string list(const char *title, const Words &words) {
  std::string out;
  for (const auto &word : words)
    out += (out.empty() ? "" : ", ") + escaped(word);
  return out.empty() ? "" : fmt::format(".br\n{}: {}\n", escaped(title), out);
}

std::string of_verb(const Verb &verb) {
  const std::string usage = usage_of(verb);
  std::string out = fmt::format(".SS {}\n{}\n.PP\n{}\n", escaped(verb.name), escaped(verb.question),
                                bold(std::string_view(usage).substr(std::string_view("usage: ").size())));
  for (std::string_view rest = verb.details; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out += ".PP\n" + escaped(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<std::string> own;
  for (const Option &option : option_table())
    if (!is_common(option) && takes(verb, option))
      own.push_back("--" + std::string(option.name));
  std::string lists = list("Options", own) + list("Tables (--table)", verb.tables) +
                      list("Columns to sort by (--sort)", verb.sort_columns) + list("Words for --by", verb.by) +
                      list("Files (--as)", verb.as);
  if (lists.starts_with(".br"))
    lists.replace(0, 3, ".PP");
  return out + lists;
}

std::string of_options(const char *title, bool common) {
  std::string out = fmt::format(".SS {}\n", title);
  for (const Option &option : option_table())
    if (is_common(option) == common)
      out += fmt::format(".TP\n{}\n{}\n", syntax_line(option), escaped(option.help));
  return out;
}

} // namespace

std::string manual_page(std::span<const Verb> verbs) {
  // No date, so that the page is the same whenever it is made.
  std::string out = fmt::format(".TH DNHEAP 1 \"\" \"dnheap {}\" \"User Commands\"\n", library_version());
  out += fmt::format(".SH NAME\ndnheap \\- {}\n", escaped(program_text));
  out += ".SH SYNOPSIS\n.B dnheap\n.I VERB TARGET\n[options]\n.br\n.B dnheap\n.I FILE\n.br\n.B dnheap "
         "help\n[\\fIVERB\\fR]\n";
  out += fmt::format(".SH DESCRIPTION\n{}\n{} alone is short for {}.\n.PP\n"
                     "Answers go to standard output, and nothing else does. {}\n",
                     escaped(target_text), bold("dnheap FILE"), bold(fmt::format("dnheap {} FILE", verbs.front().name)),
                     escaped(size_text));
  std::string_view group;
  for (const Verb &verb : verbs) {
    if (verb.group != group)
      out += fmt::format(".SH {}: {}\n", find_command(verb) ? "COMMANDS" : "VERBS", escaped(group = verb.group));
    out += of_verb(verb);
  }
  out += ".SH OPTIONS\n" + of_options("For some verbs", false) + of_options("For every verb", true);
  out += ".SH EXIT STATUS\n";
  for (const ExitCode &code : exit_codes())
    out += fmt::format(".TP\n.B {}\n{}\n", code.code, escaped(code.meaning));
  out += ".SH ENVIRONMENT\n"
         ".TP\n.B TMPDIR\nthe folder for decompressed dumps; \\-\\-temp\\-dir takes precedence\n"
         ".TP\n.B COLUMNS\nthe greatest width of tables in text, on a terminal and in a pipe\n"
         ".TP\n.B NO_COLOR\nif this variable is set, text has no colours\n";
  out += ".SH EXAMPLES\n";
  for (const Example &example : examples())
    out += fmt::format(".TP\n{}\n{}\n", bold(example.command), *example.meaning ? escaped(example.meaning) : "\\&");
  return out;
}

} // namespace dnheap::cli
