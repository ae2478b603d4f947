#include "base/sizes.h"

#include <charconv>
#include <cmath>
#include <string>

namespace dnheap {

namespace {

// Returns the power of two for "", "k", "KB", "KiB", "m", …
std::optional<int> power_of_unit(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  if (lower.empty() || lower == "b")
    return 0;
  static constexpr std::string_view prefixes = "kmgt";
  std::size_t prefix = prefixes.find(lower[0]);
  std::string_view rest = std::string_view(lower).substr(1);
  if (prefix == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib"))
    return std::nullopt;
  return 10 * (static_cast<int>(prefix) + 1);
}

} // namespace

std::optional<u64> parse_size(std::string_view text) {
  std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string_view number = text.substr(0, digits);
  std::optional<int> unit = power_of_unit(text.substr(digits));
  if (!unit || number.empty() || number.front() == '.' || number.back() == '.')
    return std::nullopt;
  const char *const last = number.data() + number.size();
  u64 whole = 0;
  if (auto [end, error] = std::from_chars(number.data(), last, whole); error == std::errc() && end == last)
    return whole > (~u64{0} >> *unit) ? std::nullopt : std::optional(whole << *unit);
  double value = 0;
  auto [end, error] = std::from_chars(number.data(), last, value);
  value = std::ldexp(value, *unit);
  if (error != std::errc() || end != last || value >= 0x1p63)
    return std::nullopt;
  return static_cast<u64>(value);
}

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

} // namespace dnheap
