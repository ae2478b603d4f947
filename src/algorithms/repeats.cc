#include "algorithms/repeats.h"

#include <algorithm>

namespace dnheap {

namespace {

// Returns how often the pattern of that length occurs in a row from `first` on.
u64 times_at(std::span<const u32> sequence, u64 first, u64 length) {
  u64 end = first + length;
  while (end < sequence.size() && sequence[end] == sequence[end - length])
    ++end;
  return (end - first) / length;
}

} // namespace

std::vector<Repeat> fold_repeats(std::span<const u32> sequence) {
  std::vector<Repeat> out;
  for (u64 at = 0; at < sequence.size();) {
    Repeat best{at, 1, 1};
    for (u64 length = 1; length <= std::min<u64>(most_repeated, sequence.size() - at); ++length)
      if (const u64 times = times_at(sequence, at, length); times > 1 && times * length > best.times * best.length)
        best = {at, length, times};
    out.push_back(best);
    at += best.length * best.times;
  }
  return out;
}

} // namespace dnheap
