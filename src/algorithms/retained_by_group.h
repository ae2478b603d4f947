// retained_by_group: computes what the instances of each type (namespace, assembly, ...) retain, for all groups in one
// sweep over the dominator tree. An object counts for its group unless it lies below another object of that group,
// which counts already. This is less than what would be freed if all instances of a type went (RetainedBySets): an
// object that only several instances together hold is in no instance's subtree.
#pragma once
#include "algorithms/dominator_tree.h"
#include "base/parallel.h"

namespace dnheap {

struct GroupRetained {
  Retained retained;
  u64 top_level = 0; // instances that lie below no other one
};

// groups_of(ObjectId, visit) must call visit(group) for each group of the object (its type, its assembly, ...), each
// less than `groups`. It is called once or twice per reachable object, from many threads. The tree's order is not that
// of the objects, so prefetch(ObjectId) is called some objects earlier, for the memory that groups_of will read.
// Memory: 24 bytes per group and thread.
template <class GroupsOf, class Prefetch>
std::vector<GroupRetained> retained_by_groups(const DominatorTree &tree, u32 groups, unsigned threads,
                                              const Watch &watch, GroupsOf groups_of, Prefetch prefetch) {
  constexpr u32 ahead = 16;
  Timer timer(watch, "retained by group");
  threads = std::max(threads, 1u);
  std::vector<std::vector<GroupRetained>> parts(threads, std::vector<GroupRetained>(groups));
  parallel_for(threads, threads, [&](u64 part, unsigned) {
    std::vector<u32> covered(groups); // places before this one lie below an instance that counted
    u32 begin = static_cast<u32>(u64{tree.size()} * part / threads);
    u32 end = static_cast<u32>(u64{tree.size()} * (part + 1) / threads);
    if (begin == end)
      return;
    for (TreePlace up = tree.parent(TreePlace{begin}); up != TreePlace{0}; up = tree.parent(up))
      if (std::optional<ObjectId> object = tree.object(up))
        groups_of(*object,
                  [&](u32 group) { covered[group] = std::max(covered[group], static_cast<u32>(tree.end(up))); });
    for (u32 at = begin; at < end; ++at) {
      if (at % 0x10000 == 0)
        watch.check();
      if (end - at > ahead)
        if (const std::optional<ObjectId> next = tree.object(TreePlace{at + ahead}))
          prefetch(*next);
      const std::optional<ObjectId> object = tree.object(TreePlace{at});
      if (!object)
        continue;
      groups_of(*object, [&](u32 group) {
        if (at < covered[group])
          return;
        covered[group] = static_cast<u32>(tree.end(TreePlace{at}));
        const Retained one = tree.retained(TreePlace{at});
        parts[part][group].retained.objects += one.objects;
        parts[part][group].retained.bytes += one.bytes;
        ++parts[part][group].top_level;
      });
    }
  });
  for (u64 i = 1; i < threads; ++i)
    for (u32 group = 0; group < groups; ++group) {
      parts[0][group].retained.objects += parts[i][group].retained.objects;
      parts[0][group].retained.bytes += parts[i][group].retained.bytes;
      parts[0][group].top_level += parts[i][group].top_level;
    }
  return std::move(parts[0]);
}

// For objects in one group at most: group_of(ObjectId) returns a group below `groups`, or any other number for none.
template <class GroupOf>
std::vector<GroupRetained> retained_by_group(const DominatorTree &tree, u32 groups, unsigned threads,
                                             const Watch &watch, GroupOf group_of) {
  return retained_by_groups(
      tree, groups, threads, watch,
      [&](ObjectId object, auto visit) {
        if (const u32 group = group_of(object); group < groups)
          visit(group);
      },
      [](ObjectId) {});
}

} // namespace dnheap
