// HeldContents: the objects that a place of the dominator tree holds, by type; the inner objects of collections are
// skipped, and their contents are listed instead. In a chain of objects of one type (a list that the program links
// itself) the first object counts as held, the others as behind it. Costs a look at the type of each of these objects;
// all threads take part if many objects hang from one place. The answer does not depend on the number of threads.
// Throws Interrupted.
#pragma once
#include "algorithms/dominator_tree.h"
#include "analysis/objects/inside_of.h"
#include "objects/object_graph.h"

#include <map>
#include <span>

namespace dnheap {

// Places of the tree that are objects of one type.
struct HeldGroup {
  u64 count = 0;              // the places themselves
  u64 objects = 0, bytes = 0; // retained by these
  u64 behind = 0;             // further objects of the type in chains that the places retain
  u64 most = 0;               // bytes retained by the largest place
  TreePlace first{};          // the first place of that size

  void add(TreePlace at, Retained retained) {
    add(HeldGroup{1, retained.objects, retained.bytes, 0, retained.bytes, at});
  }
  // `later`: its places come after those of this group.
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
  std::map<TypeId, u64> nodes; // inner objects of collections that were skipped
};

// Returns what `at` holds, except its children `without` (ascending) and what these hold.
HeldContents held_contents(const DominatorTree &tree, const ObjectGraph &graph, const Insides &insides, TreePlace at,
                           std::span<const TreePlace> without, unsigned threads, const Watch &watch);

} // namespace dnheap
