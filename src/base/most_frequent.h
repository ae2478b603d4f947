// most_frequent(): the entry of a map from things to their numbers with the largest number; of equal ones the first in
// the map's order. The map's end if it is empty. Linear; any thread.
#pragma once
#include <algorithm>

namespace dnheap {

template <class Counts> auto most_frequent(const Counts &counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto &a, const auto &b) { return a.second < b.second; });
}

} // namespace dnheap
