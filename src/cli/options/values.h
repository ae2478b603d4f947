// Parses values as people type them: 10k, 1.5GiB, 0x7f00-0x8000. Nullopt if any part of the text is something else.
#pragma once
#include "cli/options/integers.h"
#include "dnheap/address.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace dnheap::cli {

std::optional<u64> parse_number(std::string_view text);
// Returns seconds: digits, perhaps a fraction, perhaps s, m, h or d; at least 1.
std::optional<u64> parse_duration(std::string_view text);
// Parses A-B with A < B, hexadecimal as in Address::parse(): the addresses from A up to, but not including, B.
std::optional<std::pair<Address, Address>> parse_range(std::string_view text);
// Returns the words of "a b c".
std::vector<std::string_view> words_of(std::string_view text);

} // namespace dnheap::cli
