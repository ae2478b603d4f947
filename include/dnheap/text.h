// Writes numbers for people as dnheap does, and makes names out of a dump safe to print. A µs each; any thread.
#pragma once
#include "dnheap/address.h"

#include <span>

namespace dnheap::DNHEAP_ABI {

std::string bytes_text(std::uint64_t bytes); // 861.0 MiB, 12 B
std::string count_text(std::uint64_t count); // 46,077,786
// Replaces control characters, which a terminal would obey, by '?', and invalid UTF-8 by U+FFFD.
std::string printable_text(std::string_view text);
// Parses sizes as people write them: digits, perhaps a fraction, perhaps k, M, G or T (any case; KB and KiB too),
// powers of 1024, as in our output. Nullopt for any other text.
std::optional<std::uint64_t> parse_size(std::string_view text);
// Parses times as people write them to seconds: digits, perhaps a fraction, perhaps s, m, h or d; from 1 to a century.
std::optional<std::uint64_t> parse_duration(std::string_view text);
// Returns ", did you mean 'stat'?" if a candidate is close to a mistyped word; else nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

} // namespace dnheap::DNHEAP_ABI
