// Words and numbers as people type them.
#pragma once
#include "cli/options/integers.h"

#include <optional>
#include <string_view>
#include <vector>

namespace dnheap::cli {

// Decimal digits and nothing else; nullopt: it is anything else.
std::optional<u64> parse_number(std::string_view text);
// The words of "a b c".
std::vector<std::string_view> words_of(std::string_view text);

} // namespace dnheap::cli
