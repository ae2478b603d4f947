// fold_repeats: writes a sequence as runs of repeated patterns: A B A B A B C is (A B) three times, C. Patterns have at
// most most_repeated elements. Among the patterns that repeat at a place it takes the one that covers most, then the
// shortest. Linear in the elements; any thread. For the calls of a stack that has overflowed.
#pragma once
#include "base/integers.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace dnheap {

inline constexpr u64 most_repeated = 16; // elements of one pattern

struct Repeat {
  u64 first = 0;  // index of the first element
  u64 length = 1; // of the pattern
  u64 times = 1;  // consecutive occurrences
};

// The runs cover the sequence from beginning to end, in order. Equal numbers are equal elements.
std::vector<Repeat> fold_repeats(std::span<const u32> sequence);

// The same for any hashable elements: names, addresses.
template <class T> std::vector<Repeat> repeats_of(const std::vector<T> &elements) {
  std::unordered_map<T, u32> numbers;
  std::vector<u32> sequence;
  for (const T &element : elements)
    sequence.push_back(numbers.try_emplace(element, static_cast<u32>(numbers.size())).first->second);
  return fold_repeats(sequence);
}

} // namespace dnheap
