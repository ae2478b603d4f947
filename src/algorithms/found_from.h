// FoundFrom: whom each object was met from, while a breadth-first search goes level by level; of several in a level the
// least counts. 4 bytes per object. Where a dominator tree is there already (HeldDirectly), what is met from its
// dominator takes a bit instead, and only what is not held so directly 4 bytes: the same answers, for two more random
// looks at each meeting. Several threads may put at once; who reads waits until they have.
#pragma once
#include "algorithms/held_directly.h"

#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <unordered_map>

namespace dnheap {

class FoundFrom {
public:
  struct Meeting {
    u32 object, from; // `from`: not 0; 1 + an object is that object
  };
  static constexpr u64 most_at_once = 64;

  // `direct`: null where there is no tree; outlives this.
  FoundFrom(u64 objects, const HeldDirectly *direct);

  // 0: not met.
  u32 operator[](ObjectId object) const;

  // Asks for what put() will read.
  void prefetch(u32 object) const {
    if (!direct_)
      return __builtin_prefetch(&from_[object], 1);
    direct_->prefetch(ObjectId{object});
    direct_->tree().prefetch_place(ObjectId{object});
  }
  // first(object) for each that was not met before; where other threads put (not `alone`), for some more than once. At
  // most most_at_once of them.
  template <class First> void put(std::span<const Meeting> meetings, bool alone, First first) {
    if (direct_)
      return put_apart(meetings, alone, first);
    for (const Meeting &one : meetings)
      if (lower(from_[one.object], one.from, alone))
        first(one.object);
  }
  // Between two levels. Where many are met from another object than their dominator, which then ranks of roots or hubs
  // have cut off, they are kept as without a tree.
  void end_level();

private:
  // The least value but 0 stays; true for the one caller who replaced 0.
  static bool lower(u32 &from, u32 value, bool alone) {
    if (alone) {
      u32 old = from;
      if (old == 0 || value < old)
        from = value;
      return old == 0;
    }
    std::atomic_ref<u32> shared(from);
    u32 old = shared.load(std::memory_order_relaxed);
    while (old == 0 || value < old)
      if (shared.compare_exchange_weak(old, value, std::memory_order_relaxed))
        return old == 0;
    return false;
  }
  template <class First> void put_apart(std::span<const Meeting> meetings, bool alone, First first);
  bool is_from_dominator(const Meeting &one, TreePlace place) const {
    return one.from <= objects_ && direct_->tree().place(ObjectId{one.from - 1}) == direct_->tree().parent(place);
  }
  bool put_otherwise(const Meeting &one, bool alone);

  const u64 objects_;
  const HeldDirectly *direct_;
  LargeArray<u32> from_;                   // of those that are not held directly, by their numbers
  ObjectBits by_dominator_;                // of those that are: met from it
  std::unordered_map<u32, u32> otherwise_; // and met from another one
  std::mutex mutex_;                       // for that
};

template <class First> void FoundFrom::put_apart(std::span<const Meeting> meetings, bool alone, First first) {
  std::array<u32 *, most_at_once> from;
  std::array<TreePlace, most_at_once> places;
  for (u64 i = 0; i < meetings.size(); ++i) {
    const ObjectId object{meetings[i].object};
    if (direct_->test(object)) {
      from[i] = nullptr;
      places[i] = *direct_->tree().place(object);
      direct_->tree().prefetch_parent(places[i]);
    } else {
      from[i] = &from_[direct_->number(object)];
      __builtin_prefetch(from[i], 1);
    }
  }
  for (u64 i = 0; i < meetings.size(); ++i) {
    const Meeting &one = meetings[i];
    const bool is_first = from[i] ? lower(*from[i], one.from, alone)
                          : is_from_dominator(one, places[i])
                              ? by_dominator_.claim(one.object) && (!alone || !otherwise_.contains(one.object))
                              : put_otherwise(one, alone);
    if (is_first)
      first(one.object);
  }
}

} // namespace dnheap
