// FoundFrom: the object from which a breadth-first search first reached each object, level by level; among several in a
// level the least number counts. 4 bytes per object. With a dominator tree (HeldDirectly), objects reached from their
// dominator take one bit instead and only the others 4 bytes: the answers are the same, at the cost of two more random
// memory reads per meeting. Several threads may put() at once; readers wait until they are done.
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
    // `from` is never 0. Values up to the number of objects stand for an object, 1 + its id; larger values for an
    // owner, 1 + the number of objects + its id: the search begins at `object`, to which a root of that owner leads.
    u32 object, from;
  };
  static constexpr u64 most_at_once = 64;

  // `direct` may be null if there is no tree; it must outlive this object.
  FoundFrom(u64 objects, const HeldDirectly *direct);

  // Returns 0 for an object not reached.
  u32 operator[](ObjectId object) const;

  // Prefetches the memory that put() will read.
  void prefetch(u32 object) const {
    if (!direct_)
      return __builtin_prefetch(&from_[object], 1);
    direct_->prefetch(ObjectId{object});
    direct_->tree().prefetch_place(ObjectId{object});
  }
  // Calls first(object) for each object not reached before. If other threads put() at the same time (`alone` is false),
  // it may call it more than once for some. Takes at most most_at_once meetings.
  template <class First> void put(std::span<const Meeting> meetings, bool alone, First first) {
    if (direct_)
      return put_apart(meetings, alone, first);
    for (const Meeting &one : meetings)
      if (lower(from_[one.object], one.from, alone))
        first(one.object);
  }
  // Call this between two levels. If many objects were reached from another object than their dominator (because ranks
  // of roots or hubs cut it off), switches to 4 bytes for each object, as without a tree.
  void end_level();

private:
  // Keeps the least non-zero value. Returns true for the one caller who replaced 0.
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
  LargeArray<u32> from_;                   // for objects that are not held directly, by HeldDirectly::number()
  ObjectBits by_dominator_;                // directly held objects that were reached from their dominator
  std::unordered_map<u32, u32> otherwise_; // directly held objects that were reached from another object
  std::mutex mutex_;                       // guards otherwise_
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
