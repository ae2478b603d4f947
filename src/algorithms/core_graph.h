// CoreGraph: the objects that the search for dominators has to visit, numbered densely in their order, and the
// references between them. A record of 16 bytes holds up to three references and what a search notes of the object, so
// a visit misses the caches once where two arrays of edges and one of notes miss them three times. References that
// change no dominator are not here: those to left-out and closed fanned-out objects, to fanned-out objects from others
// than their array, between two links, and from an object to itself. Costs 17 bytes per core object, 4 per reference of
// those with more than three and at most 64, 2 bits per object. All threads build it. For one search.
#pragma once
#include "algorithms/edges.h"
#include "algorithms/fanned_out.h"
#include "algorithms/object_bits.h"
#include "base/count_bits.h"
#include "base/watch.h"

#include <vector>

namespace dnheap {

// References to core objects, by their numbers: up to three, then `none`. Or a list. One of up to 64 references lies
// with others of its kind: the first two words are its place, low half first. Longer ones are read from the edges: the
// first two words are the object and the place in the list of cursors.
struct CoreTargets {
  static constexpr u32 none = ~u32{0}, in_list = none - 1; // no core object has these numbers, or the third
  static constexpr u32 in_edges = none - 2;

  u32 target[3] = {none, none, none}; // the third is in_list or in_edges: a list

  bool is_list() const { return target[2] == in_list || is_in_edges(); }
  bool is_in_edges() const { return target[2] == in_edges; }
  u64 place() const { return target[0] | u64{target[1]} << 32; }
};

struct CoreObject {
  u32 met_as = 0; // the search's number of the object
  CoreTargets targets;
};

class CoreGraph {
public:
  static constexpr u32 at_once = 16; // references that next_in_edges() gives out

  CoreGraph() = default;
  // `left_out`: see DepthFirst. `links`: see Owners.
  // `fanned_out` and `links` must outlive this object.
  CoreGraph(const Edges &edges, const ObjectBits &left_out, const FannedOut *fanned_out, const ObjectBits *links,
            unsigned threads, const Watch &watch);

  u32 size() const { return size_; }
  bool contains(ObjectId object) const { return contains(block(object), object); }
  // Returns the number of a core object.
  u32 number(ObjectId object) const { return number(block(object), object); }

  CoreObject &operator[](u32 number) { return objects_[number]; }
  void prefetch(u32 number) const { __builtin_prefetch(&objects_[number], 1); }
  // Calls visit(ObjectId, number) for the core objects of [begin, end) in their order. `begin` is a multiple of 32.
  template <class Visit> void for_each(u64 begin, u64 end, Visit &&visit) const {
    for (u64 i = begin / 32; i * 32 < end; ++i) {
      u32 number = blocks_[i].before;
      for_each_bit(blocks_[i].bits, [&](u64 bit) { visit(ObjectId(i * 32 + bit), number++); });
    }
  }
  // Returns how many left-out objects this one refers to; 255 = 255 or more.
  u8 few_leaves(u32 number) const { return few_leaves_[number]; }

  // Calls visit(number) for all references, in their order.
  template <class Visit> void for_each_of(const CoreTargets &targets, Visit &&visit) const {
    if (targets.is_in_edges()) {
      for (ObjectId target : edges_.of(ObjectId{targets.target[0]}))
        follow(ObjectId{targets.target[0]}, target, visit);
    } else if (targets.is_list()) {
      const u32 *list = &lists_[targets.place()];
      for (u32 i = 0; i < list[0]; ++i)
        visit(list[list_head + i]);
    } else {
      for (u32 target : targets.target)
        if (target != CoreTargets::none)
          visit(target);
    }
  }
  // Returns the next reference of a list that is not in the edges to an object that is not in `met`; `none` at its end.
  u32 next_in_list(const CoreTargets &targets, const ObjectBits &met) {
    constexpr u32 ahead = 4;
    u32 *list = &lists_[targets.place()];
    const u32 size = list[0];
    for (u32 &at = list[1]; at < size;) {
      const u32 found = list[list_head + at++];
      if (at + ahead < size && !met.test(u64{list[list_head + at + ahead]}))
        prefetch(list[list_head + at + ahead]);
      if (!met.test(u64{found}))
        return found;
    }
    return CoreTargets::none;
  }
  // Calls visit(number) for the next references of a list in the edges, at_once at most. Returns false at its end.
  template <class Visit> bool next_in_edges(const CoreTargets &targets, Visit &&visit) {
    const std::span<const ObjectId> all = edges_.of(ObjectId{targets.target[0]});
    u64 &at = cursors_[targets.target[1]];
    for (const u64 end = std::min<u64>(at + at_once, all.size()); at < end; ++at)
      follow(ObjectId{targets.target[0]}, all[at], visit);
    return at < all.size();
  }
  // Returns CoreObject::met_as of all, and gives back the memory of the records. Lists stay.
  LargeArray<u32> take_met_as(unsigned threads);

private:
  // 32 objects: those in the core, and how many core objects lie before them.
  struct Block {
    u32 bits, before;
  };
  const Block &block(ObjectId object) const { return blocks_[static_cast<u32>(object) / 32]; }
  static bool contains(const Block &block, ObjectId object) {
    return block.bits >> (static_cast<u32>(object) % 32) & 1;
  }
  static u32 number(const Block &block, ObjectId object) {
    const u32 below = (u32{1} << (static_cast<u32>(object) % 32)) - 1;
    return block.before + static_cast<u32>(count_bits(block.bits & below));
  }

  template <class Visit> void follow(ObjectId from, ObjectId to, Visit &&visit) const {
    const Block &at = block(to);
    if (contains(at, to) && is_followed(from, to))
      visit(number(at, to));
  }
  bool is_followed(ObjectId from, ObjectId to) const {
    if (from == to || (links_ && links_->test(from) && links_->test(to)))
      return false;
    return fanned_out_->from == no_object || fanned_out_->from == from || !fanned_out_->objects.test(to);
  }
  void find_core(const ObjectBits &left_out);
  u64 room_for_lists(unsigned threads) const;
  class Filler;

  static constexpr u32 list_head = 2, most_in_list = 64;
  Edges edges_;
  const FannedOut *fanned_out_ = nullptr;
  const ObjectBits *links_ = nullptr;
  u32 size_ = 0;
  LargeArray<Block> blocks_;
  LargeArray<CoreObject> objects_;
  LargeArray<u32> lists_;    // of each: its length, how many were given out, the references
  std::vector<u64> cursors_; // of lists in the edges: how many were looked at
  LargeArray<u8> few_leaves_;
};

} // namespace dnheap
