// Sizes and times as people write them: nullopt where the text is anything else. Any thread; costs nothing.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string_view>

namespace dnheap {

// Parses digits, perhaps a fraction, perhaps k, M, G or T (any case; KB and KiB too): powers of 1024, as in our output.
// Nullopt for any other text, and for 2^63 and more.
std::optional<u64> parse_size(std::string_view text);
// Parses a time to seconds: digits, perhaps a fraction, perhaps s, m, h or d; from 1 to a century.
std::optional<u64> parse_duration(std::string_view text);

} // namespace dnheap
