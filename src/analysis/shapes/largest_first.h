// largest_first: sorts the groups that an inspector has counted, so that people read the largest first. n log n; any
// thread.
#pragma once
#include <algorithm>
#include <functional>
#include <span>
#include <vector>

namespace dnheap {

// Returns pointers to the elements of a map, those with the largest `by` first (a member of the group, or a function of
// it); equal ones keep the map's order. The map must not change meanwhile.
template <class Groups, class By> auto largest_first(const Groups &groups, By by) {
  std::vector<const typename Groups::value_type *> out;
  for (const auto &one : groups)
    out.push_back(&one);
  std::stable_sort(out.begin(), out.end(), [&](const auto *a, const auto *b) {
    return std::invoke(by, a->second) > std::invoke(by, b->second);
  });
  return out;
}

// Returns the groups whose names are explained below a table: those that people see first.
template <class Group> std::span<const Group *const> first_of(const std::vector<const Group *> &sorted) {
  return std::span(sorted).first(std::min<std::size_t>(sorted.size(), 20));
}

} // namespace dnheap
