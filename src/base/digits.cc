#include "base/digits.h"

#include <charconv>

namespace dnheap {

std::optional<u64> number_of_digits(std::string_view text, int base) {
  u64 out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

} // namespace dnheap
