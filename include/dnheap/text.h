// How dnheap writes numbers for people, and how names out of a dump become safe to print. A µs each; any thread.
#pragma once
#include "dnheap/address.h"

#include <span>

namespace dnheap::DNHEAP_ABI {

std::string bytes_text(std::uint64_t bytes); // 861.0 MiB, 12 B
std::string count_text(std::uint64_t count); // 46,077,786
// Control characters of a hostile dump, which a terminal would obey, become '?', and what is no UTF-8 U+FFFD.
std::string printable_text(std::string_view text);
// Sizes as people write them: digits, perhaps a fraction, perhaps k, M, G or T (any case; KB and KiB too), powers of
// 1024, as in our output. Nothing when the text is anything else.
std::optional<std::uint64_t> parse_size(std::string_view text);
// Seconds, of times as people write them: digits, perhaps a fraction, perhaps s, m, h or d; from 1 to a century.
std::optional<std::uint64_t> parse_duration(std::string_view text);
// ", did you mean 'stat'?" where a candidate is near to a mistyped word; or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

} // namespace dnheap::DNHEAP_ABI
