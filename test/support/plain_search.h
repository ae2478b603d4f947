// Plain searches: what objects lead to, one object after the other, as the definition says. For tests of searches by
// all threads, of one search in place of many, and of dominators.
#pragma once
#include "algorithms/dominator_tree.h"
#include "support/graphs.h"

#include <algorithm>
#include <functional>

namespace dnheap::test {

// Objects that `starts` lead to without any for which `gone` is set.
inline std::vector<bool> reached(const Graph &graph, const std::vector<u32> &starts, const std::vector<bool> &gone) {
  std::vector<bool> met(graph.objects());
  std::vector<u32> work;
  const Edges edges = graph.edges();
  auto meet = [&](u32 v) {
    if (!met[v] && !gone[v]) {
      met[v] = true;
      work.push_back(v);
    }
  };
  for (u32 start : starts)
    meet(start);
  while (!work.empty()) {
    u32 v = work.back();
    work.pop_back();
    for (ObjectId target : edges.of(ObjectId{v}))
      meet(static_cast<u32>(target));
  }
  return met;
}

inline std::vector<u32> roots_of(const Graph &graph, bool precise) {
  std::vector<u32> out;
  for (const OwnedRoot &root : graph.roots)
    if ((static_cast<u32>(root.owner) < graph.precise_owners) == precise)
      out.push_back(static_cast<u32>(root.object));
  return out;
}

inline std::vector<bool> either(const std::vector<bool> &a, const std::vector<bool> &b) {
  std::vector<bool> out(a.size());
  std::transform(a.begin(), a.end(), b.begin(), out.begin(), std::logical_or());
  return out;
}

inline Retained total(const Graph &graph, const std::vector<bool> &bits) {
  Retained out;
  for (u32 i = 0; i < graph.objects(); ++i)
    if (bits[i]) {
      ++out.objects;
      out.bytes += graph.bytes[i];
    }
  return out;
}

} // namespace dnheap::test
