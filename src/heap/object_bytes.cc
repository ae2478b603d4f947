#include "heap/object_bytes.h"

#include <algorithm>

namespace dnheap {

namespace {
constexpr u64 smallest_page = 4096;
}

ObjectBytes::ObjectBytes(const Heap &heap, const Memory &memory) {
  for (const ObjectRange &range : heap.ranges()) {
    if (range.bytes.empty()) {
      std::vector<std::byte> copy(range.size);
      if (memory.peek(range.address, copy)) {
        Bytes bytes = gathered_.emplace_back(std::move(copy));
        stretches_.push_back({range.address, range.end(), bytes.data()});
      }
      continue;
    }
    for (Bytes rest = range.bytes; !rest.empty();) { // single pages of a live process may be missing
      const Bytes here = memory.fetched(rest);
      const Address address = range.end() - rest.size();
      if (!here.empty())
        stretches_.push_back({address, address + here.size(), here.data()});
      rest = rest.subspan(std::min<u64>(here.size() + smallest_page, rest.size()));
    }
  }
  stretches_.push_back({~Address{0}, ~Address{0}, nullptr});
  if (stretches_.size() == 1)
    return;
  lowest_ = stretches_.front().start;
  Address last = stretches_[stretches_.size() - 2].end - 1;
  while ((last - lowest_) >> granule_shift_ >= u64{1} << 20)
    ++granule_shift_;
  u32 at = 0;
  for (u64 g = 0; g <= (last - lowest_) >> granule_shift_; ++g) {
    while (stretches_[at].end <= lowest_ + (g << granule_shift_))
      ++at;
    first_.push_back(at);
  }
}

const ObjectBytes::Stretch *ObjectBytes::find(Address address, u64 granule) const {
  auto begin = stretches_.begin() + first_[granule];
  auto end = granule + 1 < first_.size() ? stretches_.begin() + first_[granule + 1] + 1 : stretches_.end();
  auto found = std::upper_bound(begin, end, address, [](Address a, const Stretch &s) { return a < s.end; });
  return found == end ? &stretches_.back() : &*found;
}

} // namespace dnheap
