#include "cli/shell/suggestion.h"

#include <algorithm>

namespace dnheap::cli {

namespace {

// Returns the text in quotes from `at` on; empty: none.
std::string_view quoted_from(std::string_view text, std::size_t at) {
  const std::size_t begin = text.find('\'', at);
  const std::size_t end = begin == text.npos ? text.npos : text.find('\'', begin + 1);
  return end == text.npos ? std::string_view() : text.substr(begin + 1, end - begin - 1);
}

bool ends_word(char c) { return c == ' ' || c == '\t' || c == '=' || c == '\'' || c == '"' || c == '|' || c == '>'; }

// Returns the place of a whole word; npos: none.
std::size_t find_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || ends_word(line[at - 1]) || line[at - 1] == '!') && (end == line.size() || ends_word(line[end])))
      return at;
  }
  return line.npos;
}

} // namespace

std::optional<std::string> suggested_line(std::string_view line, std::string_view error) {
  const std::size_t at = error.find("did you mean '");
  const std::string_view wrong = quoted_from(error, 0);
  if (at == error.npos || wrong.empty() || wrong.data() > error.data() + at)
    return std::nullopt;
  const std::string_view meant = quoted_from(error, at);
  const std::size_t place = meant.empty() ? line.npos : find_word(line, wrong);
  if (place == line.npos)
    return std::nullopt;
  const bool is_quoted = place > 0 && (line[place - 1] == '\'' || line[place - 1] == '"');
  const bool is_option = meant.starts_with('-'); // "--format json" is two words
  // A name from a dump may be made to end the quotes, or to be an option.
  if ((is_quoted && meant.find(line[place - 1]) != meant.npos) ||
      (is_option && (!wrong.starts_with('-') || meant.find_first_of("\"|>#") != meant.npos)))
    return std::nullopt;
  const bool has_to_be_quoted = !is_quoted && !is_option && meant.find_first_of(" \t|>#\"") != meant.npos;
  const std::string quote = has_to_be_quoted ? "'" : "";
  return std::string(line.substr(0, place)) + quote + std::string(meant) + quote +
         std::string(line.substr(place + wrong.size()));
}

bool accepts_suggestion(std::string_view line, bool at_prompt) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  std::string_view word = line.substr(begin);
  word = word.substr(0, word.find_last_not_of(" \t") + 1);
  return word == "y" || word == "Y" || word == "yes" || (at_prompt && word.empty());
}

} // namespace dnheap::cli
