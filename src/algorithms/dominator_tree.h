// DominatorTree: what would be freed with what. An object's dominator is the nearest object (or owner) that every way
// from the roots to it leads through; the object is retained by that one, by that one's dominator, and so on. Above all
// stands one virtual root; its children are the owners and, next to them, the objects that no single owner holds
// (shared). Kept in preorder, so that a subtree is one stretch of places and its bytes the difference of two sums.
// It costs 20 bytes per object, while it is built up to 20 more; any number of threads may read it.
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
  u64 objects = 0; // itself included; owners are none
  u64 bytes = 0;
  bool operator==(const Retained &) const = default;
};

class DominatorTree {
public:
  // Exact. Objects that precise owners reach are solved with those alone. Throws Error when there are more than 2^32 -
  // 2 objects and owners, std::bad_alloc, Interrupted.
  DominatorTree(const Edges &edges, const ObjectSizes &sizes, const Owners &owners, unsigned threads,
                const Watch &watch);

  // Nothing for an object that no root reaches.
  std::optional<TreePlace> place(ObjectId object) const {
    u32 place = place_[static_cast<u32>(object)];
    return place != 0 ? std::optional(TreePlace{place}) : std::nullopt;
  }
  TreePlace place(OwnerId owner) const { return TreePlace{owner_place_[static_cast<u32>(owner)]}; }

  // What stands at a place; both nothing at the virtual root.
  std::optional<ObjectId> object(TreePlace at) const {
    u32 node = node_[static_cast<u32>(at)];
    return node < objects_ ? std::optional(ObjectId{node}) : std::nullopt;
  }
  std::optional<OwnerId> owner(TreePlace at) const {
    u32 node = node_[static_cast<u32>(at)];
    return node >= objects_ && at != TreePlace{0} ? std::optional(OwnerId(node - objects_)) : std::nullopt;
  }

  // The subtree of a place ends before this place. Children: the next place, then the end of each child before the
  // last.
  TreePlace end(TreePlace at) const { return TreePlace{static_cast<u32>(at) + count_[static_cast<u32>(at)]}; }
  // The immediate dominator; the virtual root is its own.
  TreePlace parent(TreePlace at) const { return TreePlace{parent_[static_cast<u32>(at)]}; }
  // Ask for what place() and parent() will read.
  void prefetch_place(ObjectId object) const { __builtin_prefetch(&place_[static_cast<u32>(object)]); }
  void prefetch_parent(TreePlace at) const { __builtin_prefetch(&parent_[static_cast<u32>(at)]); }
  // visit(TreePlace) for each child, in their order.
  template <class Visit> void for_each_child(TreePlace parent, Visit &&visit) const {
    for (TreePlace at{static_cast<u32>(parent) + 1}; at < end(parent); at = end(at))
      visit(at);
  }
  // Held by several owners, by none alone.
  bool is_shared(TreePlace at) const { return at != TreePlace{0} && parent(at) == TreePlace{0} && object(at); }

  Retained retained(TreePlace at) const {
    u64 virtual_ones = object(at) ? 0 : at == TreePlace{0} ? owner_place_.size() + 1 : 1;
    return {count_[static_cast<u32>(at)] - virtual_ones, bytes_before(end(at)) - bytes_before(at)};
  }
  Retained shared() const;      // retained by objects that are shared
  Retained unreachable() const; // what no root reaches; with reached() it makes all objects
  Retained reached() const { return retained(TreePlace{0}); }

  // What the object at a place takes by itself; 0 of an owner.
  u64 own_bytes(TreePlace at) const { return bytes_[u64{static_cast<u32>(at)} + 1] - bytes_before(at); }

  u32 size() const { return static_cast<u32>(node_.size()); } // places
  // Bytes of everything at places before this one.
  u64 bytes_before(TreePlace at) const { return bytes_[static_cast<u32>(at)]; }

private:
  void lay_out(const Edges &edges, const struct RootsByOwner &roots, struct DepthFirst &search,
               const LargeArray<u8> &few_leaves, unsigned threads, const Watch &watch);
  void add_up(const ObjectSizes &sizes, unsigned threads, const Watch &watch);

  u64 objects_; // of the heap
  u64 unreachable_bytes_ = 0;
  std::vector<u32> owner_place_;
  LargeArray<u32> place_; // by ObjectId, 0 = unreachable; all others by place
  LargeArray<u32> node_;  // ObjectId, or number of objects + owner
  LargeArray<u32> count_; // of places in the subtree
  LargeArray<u32> parent_;
  PrefixSums bytes_; // of the objects, by place
};

} // namespace dnheap
