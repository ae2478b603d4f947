// "did you mean …?": finds the candidate closest to a mistyped word. Costs |word|·|candidate| each; for error texts.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace dnheap {

// Returns the candidate with the fewest insertions, deletions, replacements and swaps of neighbours from `word`, or one
// that begins with `word`; empty if none is close enough.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// Returns ", did you mean 'stat'?" or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

} // namespace dnheap
