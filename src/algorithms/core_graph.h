// CoreGraph: the objects with references that the search for dominators has to visit, numbered densely in their order,
// and the references that it follows. A record of 16 bytes holds up to three references and what a search notes of the
// object, so a visit misses the caches once where two arrays of edges and one of notes miss them three times. Objects
// without references have no record. References that change no dominator are not here: those to closed fanned-out
// objects, to fanned-out objects from others than their array, and between two links. Costs 16 bytes per core object, 2
// bits per object. All threads build it. For one search.
#pragma once
#include "algorithms/edges.h"
#include "algorithms/fanned_out.h"
#include "algorithms/object_bits.h"
#include "base/count_bits.h"
#include "base/watch.h"

#include <vector>

namespace dnheap {

// Up to three references. Or a list, which is read from the edges: copies of lists take more memory than they save
// time. The first two words of one of up to 1,023 references are its place, its length and how many of them were looked
// at; of longer ones, and those of links and of the object that fans out, the object and the place in the list of
// cursors.
struct CoreTargets {
  static constexpr u32 none = ~u32{0}, in_list = none - 1; // no object has these numbers, or the third
  static constexpr u32 in_edges = none - 2;
  struct List {
    u64 begin; // below 2^44
    u32 length, at;
  };
  static constexpr u64 list_begin_limit = u64{1} << 44, most_in_list = 1023;

  u32 target[3] = {none, none, none}; // the third is in_list or in_edges: a list

  static CoreTargets of(const List &list) {
    return {{static_cast<u32>(list.begin), static_cast<u32>(list.begin >> 32) | list.length << 12 | list.at << 22,
             in_list}};
  }
  bool is_list() const { return target[2] == in_list || is_in_edges(); }
  bool is_in_edges() const { return target[2] == in_edges; }
  List list() const { return {target[0] | u64{target[1] & 0xfff} << 32, target[1] >> 12 & 0x3ff, target[1] >> 22}; }
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
  // Returns the number of a core object; CoreTargets::none for others.
  u32 number(ObjectId object) const {
    const Block &at = block(object);
    const u32 below = (u32{1} << (static_cast<u32>(object) % 32)) - 1;
    return contains(at, object) ? at.before + static_cast<u32>(count_bits(at.bits & below)) : CoreTargets::none;
  }

  CoreObject &operator[](u32 number) { return objects_[number]; }
  void prefetch(u32 number) const { __builtin_prefetch(&objects_[number], 1); }
  void prefetch(const CoreTargets &targets) const {
    if (targets.target[2] == CoreTargets::in_list)
      __builtin_prefetch(&edges_.targets[targets.list().begin]);
  }

  // Calls visit(ObjectId) for all references, in their order, those to left-out objects included.
  template <class Visit> void for_each_of(const CoreTargets &targets, Visit &&visit) const {
    if (targets.is_in_edges()) {
      const ObjectId from{targets.target[0]};
      for (ObjectId target : edges_.of(from))
        if (is_followed(from, target))
          visit(target);
    } else if (targets.is_list()) {
      for (ObjectId target : references(targets.list()))
        if (is_followed(target))
          visit(target);
    } else {
      for (u32 target : targets.target)
        if (target != CoreTargets::none)
          visit(ObjectId{target});
    }
  }
  std::span<const ObjectId> references(const CoreTargets::List &list) const {
    return edges_.targets.subspan(list.begin, list.length);
  }
  // Returns whether a search follows a reference of a list.
  bool is_followed(ObjectId to) const { return fanned_out_->from == no_object || !fanned_out_->objects.test(to); }
  // Calls visit(ObjectId) for the next references of a list in the edges, at_once at most. Returns false at its end.
  template <class Visit> bool next_in_edges(const CoreTargets &targets, Visit &&visit) {
    const ObjectId from{targets.target[0]};
    const std::span<const ObjectId> all = edges_.of(from);
    u64 &at = cursors_[targets.target[1]];
    for (const u64 end = std::min<u64>(at + at_once, all.size()); at < end; ++at)
      if (is_followed(from, all[at]))
        visit(all[at]);
    return at < all.size();
  }
  // Copies CoreObject::met_as of all to their ObjectIds, and gives back the memory of the records.
  void take_met_as(LargeArray<u32> &out, unsigned threads);

private:
  // 32 objects: those in the core, and how many core objects lie before them.
  struct Block {
    u32 bits, before;
  };
  const Block &block(ObjectId object) const { return blocks_[static_cast<u32>(object) / 32]; }
  static bool contains(const Block &block, ObjectId object) {
    return block.bits >> (static_cast<u32>(object) % 32) & 1;
  }
  // Calls visit(ObjectId, number) for the core objects of [begin, end) in their order. `begin` is a multiple of 32.
  template <class Visit> void for_each(u64 begin, u64 end, Visit &&visit) const {
    for (u64 i = begin / 32; i * 32 < end; ++i) {
      u32 number = blocks_[i].before;
      for_each_bit(blocks_[i].bits, [&](u64 bit) { visit(ObjectId(i * 32 + bit), number++); });
    }
  }
  bool is_followed(ObjectId from, ObjectId to) const {
    if (links_ && links_->test(from) && links_->test(to))
      return false;
    return fanned_out_->from == from ? !fanned_out_->closed.test(to) : is_followed(to);
  }
  void find_core(const ObjectBits &left_out, unsigned threads);
  class Filler;

  Edges edges_;
  const FannedOut *fanned_out_ = nullptr;
  const ObjectBits *links_ = nullptr;
  u32 size_ = 0;
  LargeArray<Block> blocks_;
  LargeArray<CoreObject> objects_;
  std::vector<u64> cursors_; // of lists in the edges: how many were looked at
};

} // namespace dnheap
