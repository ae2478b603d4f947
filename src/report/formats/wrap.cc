#include "report/formats/wrap.h"

#include "base/utf8.h"
#include "report/character_width.h"
#include "report/encoding.h"

#include <algorithm>

namespace dnheap::report {

namespace {

// Returns how much of `text`, whose first `width` columns end at `fits`, goes into a line: up to a space, else to the
// best place to break a word.
u64 break_of(std::string_view text, u64 fits) {
  if (text[fits] == ' ')
    return fits;
  const u64 space = text.substr(0, fits).rfind(' ');
  const bool has_space = space != text.npos && text.find_first_not_of(' ') < space;
  if (has_space && space > fits / 3)
    return space;
  for (u64 at = fits; at > fits / 2; --at)
    if (text[at] == '.' || text[at] == '+' || text[at - 1] == ',' || text[at - 1] == '/')
      return at;
  return has_space ? space : fits;
}

// Returns the bytes of the characters at the start of `text` that take at most `width` columns; at least one character.
u64 bytes_that_fit(std::string_view text, u64 width) {
  u64 at = 0, taken = 0;
  while (at < text.size()) {
    const u64 length = std::max<u64>(utf8_length(text.substr(at)), 1);
    taken += character_width(text.substr(at, length));
    if (taken > width && at)
      break;
    at += length;
  }
  return at;
}

} // namespace

std::vector<std::string> wrap(std::string_view text, u64 width, u64 indent) {
  std::vector<std::string> lines;
  while (width) {
    const u64 before = lines.empty() || indent >= width ? 0 : indent;
    const u64 fits = bytes_that_fit(text, width - before);
    const std::string lead(before, ' ');
    if (fits == text.size()) {
      lines.push_back(lead + std::string(text));
      return lines;
    }
    const u64 end = break_of(text, fits);
    std::string_view line = text.substr(0, end);
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    lines.push_back(lead + std::string(line));
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
    if (text.empty())
      return lines;
  }
  return {std::string(text)};
}

} // namespace dnheap::report
