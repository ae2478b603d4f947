// fold_repeats: a sequence as runs of what follows each other again and again: A B A B A B C is (A B) three times, C.
// Of the patterns that repeat at a place, of at most most_repeated elements, the one that covers most is taken, of
// these the shortest. Linear in the elements; from any thread. For calls of a stack that has overflowed.
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
  u64 times = 1;  // how often it stands there, one behind the other
};

// Covers the sequence from its beginning to its end, in order. Equal numbers are equal elements.
std::vector<Repeat> fold_repeats(std::span<const u32> sequence);

// The same of anything that can be hashed: names, addresses.
template <class T> std::vector<Repeat> repeats_of(const std::vector<T> &elements) {
  std::unordered_map<T, u32> numbers;
  std::vector<u32> sequence;
  for (const T &element : elements)
    sequence.push_back(numbers.try_emplace(element, static_cast<u32>(numbers.size())).first->second);
  return fold_repeats(sequence);
}

} // namespace dnheap
