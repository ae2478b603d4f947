#include "algorithms/paths/found_from.h"

namespace dnheap {

FoundFrom::FoundFrom(u64 objects, const HeldDirectly *direct)
    : objects_(objects), direct_(direct), from_(direct ? direct->others() : objects),
      by_dominator_(direct ? objects : 0) {}

u32 FoundFrom::operator[](ObjectId object) const {
  if (!direct_)
    return from_[static_cast<u32>(object)];
  if (!direct_->test(object))
    return from_[direct_->number(object)];
  const u32 usual = by_dominator_.test(object) ? 1 + static_cast<u32>(direct_->dominator(object)) : 0;
  const auto other = otherwise_.find(static_cast<u32>(object));
  return other == otherwise_.end() ? usual : usual ? std::min(usual, other->second) : other->second;
}

// Returns true if the object was not reached before. With other threads at work it checks only earlier meetings of this
// kind.
bool FoundFrom::put_otherwise(const Meeting &one, bool alone) {
  std::lock_guard lock(mutex_);
  const auto [at, is_new] = otherwise_.emplace(one.object, one.from);
  at->second = std::min(at->second, one.from);
  return is_new && !(alone && by_dominator_.test(one.object));
}

void FoundFrom::end_level() {
  // Entries of the map. Each takes about 40 bytes, as much as ten numbers of the array: with an entry for every 256th
  // object, the map takes about 4 % of the array's bytes.
  constexpr u64 few = 4096, least_share = 256;
  if (otherwise_.size() < few || otherwise_.size() * least_share < objects_)
    return;
  LargeArray<u32> all(objects_);
  for (u64 i = 0; i < objects_; ++i)
    all[i] = (*this)[ObjectId{static_cast<u32>(i)}];
  from_ = std::move(all);
  direct_ = nullptr;
  by_dominator_ = ObjectBits();
  otherwise_ = {};
}

} // namespace dnheap
