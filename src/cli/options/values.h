// Parses values as people type them: 10k, 1.5GiB, 0x7f00-0x8000. Nullopt if any part of the text is something else.
#pragma once
#include "cli/options/integers.h"

#include <optional>
#include <string_view>
#include <vector>

namespace dnheap::cli {

// Parses a number of decimal digits; nullopt: the text has other characters.
std::optional<u64> parse_number(std::string_view text);
// Returns the words of "a b c".
std::vector<std::string_view> words_of(std::string_view text);

} // namespace dnheap::cli
