// Whole numbers in text. Any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string_view>

namespace dnheap {

// Parses a text that consists only of digits of that base. Nullopt: it is empty or has other characters, or the number
// is too large.
std::optional<u64> number_of_digits(std::string_view text, int base = 10);

} // namespace dnheap
