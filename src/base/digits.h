// Whole numbers in text. Any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string_view>

namespace dnheap {

// All of the text, which has digits of that base and nothing else. Nullopt: it is empty or has something else, or the
// number is too large.
std::optional<u64> number_of_digits(std::string_view text, int base = 10);

} // namespace dnheap
