// "did you mean …?": the candidate that is closest to a mistyped word. Costs |word|·|candidate| each; for error texts.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace dnheap {

// The candidate with the fewest insertions, deletions, replacements and swaps of neighbours from `word`, or one that
// `word` begins; empty when none is near enough to be meant.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// ", did you mean 'stat'?" or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

} // namespace dnheap
