#include "algorithms/dependents.h"

#include <algorithm>

namespace dnheap {

Dependents::Dependents(std::vector<Dependent> handles) : all_(std::move(handles)) {
  std::erase_if(all_, [](const Dependent &d) { return d.key == 0 || d.secondary == 0; });
  std::sort(all_.begin(), all_.end());
  unsigned bits = 4;
  while ((u64{1} << bits) < 2 * all_.size())
    ++bits;
  shift_ = 64 - bits;
  slots_.resize(u64{1} << bits);
  for (u64 i = 0; i < all_.size(); ++i) {
    if (i && all_[i].key == all_[i - 1].key)
      continue;
    u64 slot = hash(all_[i].key);
    while (slots_[slot])
      slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<u32>(i + 1);
  }
}

} // namespace dnheap
