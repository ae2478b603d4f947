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

} // namespace dnheap
