// Dependents: the references that dependent handles (ConditionalWeakTable) add, as pairs key → secondary. The secondary
// lives as long as its key does, so reachability treats a handle as a reference from key to secondary, chains included.
// A hash table; any thread may read it.
#pragma once
#include "base/integers.h"

#include <span>
#include <vector>

namespace dnheap {

struct Dependent {
  Address key = 0, secondary = 0;
  auto operator<=>(const Dependent &) const = default;
};

class Dependents {
public:
  Dependents() = default;
  // Ignores handles whose key or secondary is null.
  explicit Dependents(std::vector<Dependent> handles);

  std::span<const Dependent> all() const { return all_; } // sorted by key, then secondary
  std::span<const Dependent> of(Address key) const {
    if (all_.empty())
      return {};
    for (u64 slot = hash(key);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == 0)
        return {};
      u64 first = slots_[slot] - 1, last = first;
      if (all_[first].key != key)
        continue;
      while (last < all_.size() && all_[last].key == key)
        ++last;
      return std::span(all_).subspan(first, last - first);
    }
  }

private:
  u64 hash(Address key) const { return (key * 0x9e3779b97f4a7c15) >> shift_; }

  std::vector<Dependent> all_;
  std::vector<u32> slots_; // size is a power of two; index of a key's first pair + 1
  unsigned shift_ = 0;
};

} // namespace dnheap
