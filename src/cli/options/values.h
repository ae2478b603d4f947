// Values as people type them: 10k, 1.5GiB, 0x7f00-0x8000. Nullopt when the text is anything else, all of it counts.
#pragma once
#include "cli/options/integers.h"
#include "dnheap/address.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace dnheap::cli {

std::optional<u64> parse_number(std::string_view text);
// Seconds: digits, perhaps a fraction, perhaps s, m, h or d; at least 1.
std::optional<u64> parse_duration(std::string_view text);
// A-B with A < B, hexadecimal as Address::parse() reads it: the addresses from A up to, not including, B.
std::optional<std::pair<Address, Address>> parse_range(std::string_view text);
// The words of "a b c".
std::vector<std::string_view> words_of(std::string_view text);

} // namespace dnheap::cli
