#include "cli/options/shell_line.h"

#include "dnheap/error.h"

#include <algorithm>

namespace dnheap::cli {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

} // namespace

ShellLine parse_line(std::string_view line) {
  ShellLine out;
  if (line.find('\0') != line.npos)
    throw UsageError("the line contains a NUL");
  std::string word;
  bool has_word = false, wants_file = false;
  char quote = 0;
  auto end_word = [&] {
    if (!has_word)
      return;
    if (wants_file)
      out.file = word;
    else
      out.words.push_back(word);
    wants_file = has_word = false;
    word.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      has_word = true;
    } else if (is_space(c)) {
      end_word();
    } else if (c == '|') {
      end_word();
      out.program = line.substr(i + 1);
      if (std::all_of(out.program.begin(), out.program.end(), is_space))
        throw UsageError("missing PROGRAM after the |");
      break;
    } else if (c == '>') {
      end_word();
      if (wants_file || !out.file.empty())
        throw UsageError("only one file may follow >");
      wants_file = true;
      out.appends = i + 1 < line.size() && line[i + 1] == '>';
      i += out.appends;
    } else if (c == '#' && !has_word) {
      break;
    } else {
      word += c;
      has_word = true;
    }
  }
  if (quote)
    throw UsageError(std::string("a ") + quote + " is not closed");
  end_word();
  if (wants_file)
    throw UsageError("missing FILE after the >");
  if (!out.file.empty() && !out.program.empty())
    throw UsageError("either > FILE or | PROGRAM");
  if (out.words.empty() && (!out.file.empty() || !out.program.empty()))
    throw UsageError("missing question before > FILE or | PROGRAM");
  return out;
}

} // namespace dnheap::cli
