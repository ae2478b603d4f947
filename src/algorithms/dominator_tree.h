// DominatorTree: answers what would be freed together with an object. An object's dominator is the nearest object (or
// owner) on every path from the roots to it; it retains the object, and so does each dominator further up. Above all
// stands one virtual root. Its children are the owners and the shared objects, which no single owner holds. Stored in
// preorder, so that a subtree is one stretch of places and its bytes are the difference of two sums. Costs 20 bytes per
// object, and up to 20 more while it is built; any number of threads may read it.
#pragma once
#include "algorithms/edges.h"
#include "algorithms/object_sizes.h"
#include "algorithms/owners.h"
#include "algorithms/prefix_sums.h"
#include "base/host/large_array.h"
#include "base/watch.h"

#include <optional>
#include <vector>

namespace dnheap {

// A place in the tree's preorder: 0 is the virtual root.
enum class TreePlace : u32 {};

struct Retained {
  u64 objects = 0; // itself included; owners do not count
  u64 bytes = 0;
  bool operator==(const Retained &) const = default;
};

class DominatorTree {
public:
  // The result is exact. For objects that precise owners reach, conservative owners are ignored. Throws Error when
  // objects and owners exceed 2^32 - 2, std::bad_alloc when memory runs out, and Interrupted.
  DominatorTree(const Edges &edges, const ObjectSizes &sizes, const Owners &owners, unsigned threads,
                const Watch &watch);

  // Nullopt for an object that no root reaches.
  std::optional<TreePlace> place(ObjectId object) const {
    u32 place = place_[static_cast<u32>(object)];
    return place != 0 ? std::optional(TreePlace{place}) : std::nullopt;
  }
  TreePlace place(OwnerId owner) const { return TreePlace{owner_place_[static_cast<u32>(owner)]}; }

  // Returns the object, or the owner, at a place; nullopt for both at the virtual root.
  std::optional<ObjectId> object(TreePlace at) const {
    u32 node = node_[static_cast<u32>(at)];
    return node < objects_ ? std::optional(ObjectId{node}) : std::nullopt;
  }
  std::optional<OwnerId> owner(TreePlace at) const {
    u32 node = node_[static_cast<u32>(at)];
    return node >= objects_ && at != TreePlace{0} ? std::optional(OwnerId(node - objects_)) : std::nullopt;
  }

  // Returns the place after the subtree of `at`. The first child is the next place; each further child starts where the
  // child before it ends.
  TreePlace end(TreePlace at) const { return TreePlace{static_cast<u32>(at) + count_[static_cast<u32>(at)]}; }
  // Returns the immediate dominator; the virtual root is its own.
  TreePlace parent(TreePlace at) const { return TreePlace{parent_[static_cast<u32>(at)]}; }
  // Prefetch the memory that place() and parent() will read.
  void prefetch_place(ObjectId object) const { __builtin_prefetch(&place_[static_cast<u32>(object)]); }
  void prefetch_parent(TreePlace at) const { __builtin_prefetch(&parent_[static_cast<u32>(at)]); }
  // Calls visit(TreePlace) for each child, in order.
  template <class Visit> void for_each_child(TreePlace parent, Visit &&visit) const {
    for (TreePlace at{static_cast<u32>(parent) + 1}; at < end(parent); at = end(at))
      visit(at);
  }
  // True if several owners hold the object together and none holds it alone.
  bool is_shared(TreePlace at) const { return at != TreePlace{0} && parent(at) == TreePlace{0} && object(at); }

  Retained retained(TreePlace at) const {
    u64 virtual_ones = object(at) ? 0 : at == TreePlace{0} ? owner_place_.size() + 1 : 1;
    return {count_[static_cast<u32>(at)] - virtual_ones, bytes_before(end(at)) - bytes_before(at)};
  }
  Retained shared() const;      // retained by objects that are shared
  Retained unreachable() const; // not reached from any root; reached() + unreachable() = all objects
  Retained reached() const { return retained(TreePlace{0}); }

  // Returns the object's own size; 0 for an owner.
  u64 own_bytes(TreePlace at) const { return bytes_[u64{static_cast<u32>(at)} + 1] - bytes_before(at); }

  u32 size() const { return static_cast<u32>(node_.size()); } // places
  // Returns the bytes of all places before this one.
  u64 bytes_before(TreePlace at) const { return bytes_[static_cast<u32>(at)]; }

private:
  void lay_out(const Edges &edges, const struct RootsByOwner &roots, struct DepthFirst &search,
               const LargeArray<u8> &few_leaves, unsigned threads, const Watch &watch);
  void add_up(const ObjectSizes &sizes, unsigned threads, const Watch &watch);

  u64 objects_; // of the heap
  u64 unreachable_bytes_ = 0;
  std::vector<u32> owner_place_;
  LargeArray<u32> place_; // first by ObjectId: 0 = unreachable; the arrays below are by place
  LargeArray<u32> node_;  // ObjectId, or number of objects + owner
  LargeArray<u32> count_; // of places in the subtree
  LargeArray<u32> parent_;
  PrefixSums bytes_; // of the objects, by place
};

} // namespace dnheap
