#include "cli/options/values.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace dnheap::cli {

namespace {

std::optional<u64> parse_integer(std::string_view text, int base) {
  u64 value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace

std::optional<u64> parse_number(std::string_view text) { return parse_integer(text, 10); }

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(' '), text.size());
    if (end)
      words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

} // namespace dnheap::cli
