#include "cli/options/values.h"

#include <charconv>
#include <cmath>
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

std::optional<u64> parse_duration(std::string_view text) {
  static constexpr std::pair<char, double> units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  double unit = 1;
  for (auto [letter, seconds] : units)
    if (text.ends_with(letter)) {
      unit = seconds;
      text.remove_suffix(1);
      break;
    }
  if (text.empty() || text.find_first_not_of("0123456789.") != text.npos)
    return std::nullopt;
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  value *= unit;
  constexpr double century = 100.0 * 366 * 86400;
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > century)
    return std::nullopt;
  return static_cast<u64>(value);
}

std::optional<std::pair<Address, Address>> parse_range(std::string_view text) {
  std::size_t dash = text.find('-');
  if (dash == std::string_view::npos)
    return std::nullopt;
  std::optional<Address> start = Address::parse(text.substr(0, dash)), end = Address::parse(text.substr(dash + 1));
  if (!start || !end || *start >= *end)
    return std::nullopt;
  return std::pair(*start, *end);
}

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
