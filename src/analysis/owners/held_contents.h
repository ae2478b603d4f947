// HeldContents: what a place of the dominator tree holds, told by type: what hangs from it, through what collections
// are made of inside. Of parts that hang from a part of the same type one behind the other (a list that a program links
// itself) the first is held, the others are counted behind it. Costs a look at each of these objects' types, wherever
// they lie; by all threads where many hang from one place. The answer does not depend on their number. Throws
// Interrupted.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/objects/inside_of.h"
#include "objects/object_graph.h"

#include <map>
#include <span>

namespace dnheap {

// Places of the tree that are objects of one type.
struct HeldGroup {
  u64 count = 0;              // of the places themselves
  u64 objects = 0, bytes = 0; // that these retain
  u64 behind = 0;             // further objects of the type, one behind the other, which the places retain
  u64 most = 0;               // bytes that one place retains
  TreePlace first{};          // the first place that does

  void add(TreePlace at, Retained retained) {
    add(HeldGroup{1, retained.objects, retained.bytes, 0, retained.bytes, at});
  }
  // `later`: of places behind those of this one.
  void add(const HeldGroup &later) {
    if (!count || later.most > most)
      most = later.most, first = later.first;
    count += later.count;
    objects += later.objects;
    bytes += later.bytes;
    behind += later.behind;
  }
};

struct HeldContents { // by type
  std::map<TypeId, HeldGroup> held;
  std::map<TypeId, u64> nodes; // of collections, on the way
};

// Below `at`, but for its children `without` (ascending) and what these hold.
HeldContents held_contents(const DominatorTree &tree, const ObjectGraph &graph, const Insides &insides, TreePlace at,
                           std::span<const TreePlace> without, unsigned threads, const Watch &watch);

} // namespace dnheap
