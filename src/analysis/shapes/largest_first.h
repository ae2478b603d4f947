// largest_first: the groups that an inspector has counted, in the order in which people read them. Linear but for the
// sorting; any thread.
#pragma once
#include <algorithm>
#include <functional>
#include <vector>

namespace dnheap {

// The elements of a map, those with most first by `by` (a member of the group, or a function of it); equal ones in the
// map's order. They stay in the map, which must not change meanwhile.
template <class Groups, class By> auto largest_first(const Groups &groups, By by) {
  std::vector<const typename Groups::value_type *> out;
  for (const auto &one : groups)
    out.push_back(&one);
  std::stable_sort(out.begin(), out.end(), [&](const auto *a, const auto *b) {
    return std::invoke(by, a->second) > std::invoke(by, b->second);
  });
  return out;
}

} // namespace dnheap
