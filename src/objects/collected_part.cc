#include "objects/collected_part.h"

#include <algorithm>

namespace dnheap {

namespace {

using G = GCSegmentGeneration;

} // namespace

CollectedPart::CollectedPart(const Heap &heap, GCSegmentGeneration oldest,
                             std::optional<std::pair<Address, Address>> bounds)
    : oldest_(oldest), bounds_(bounds) {
  for (const HeapSegment &segment : heap.segments())
    if (segment.start < segment.end)
      extents_.push_back({segment.start, segment.end, segment.generation});
  std::sort(extents_.begin(), extents_.end(), [](const Extent &a, const Extent &b) { return a.start < b.start; });
}

std::string CollectedPart::name() const {
  return oldest_ == G::gen0 ? "gen0" : oldest_ == G::gen1 ? "gen0 and gen1" : "all generations";
}

// Large and pinned objects are collected with gen2; frozen ones never.
bool CollectedPart::is_collected(G generation) const {
  return oldest_ >= G::gen2 ? generation != G::frozen : generation <= oldest_;
}

bool CollectedPart::holds(Address address) const {
  std::optional<G> generation = generation_of(address);
  return generation && is_collected(*generation);
}

bool CollectedPart::may_become_object(Address address, bool is_in_object, u64 alignment) const {
  if (address % alignment != 0)
    return false;
  std::optional<G> generation = generation_of(address);
  if (!generation) // free memory that the GC owns
    return bounds_ && bounds_->first <= address && address < bounds_->second;
  if (is_collected(*generation))
    return true;
  // Survivors of gen1 move into free space of gen2, those of gen0 into free space of gen1.
  return *generation <= G::gen2 && static_cast<u8>(*generation) == static_cast<u8>(oldest_) + 1 && !is_in_object;
}

std::optional<G> CollectedPart::generation_of(Address address) const {
  auto next = std::upper_bound(extents_.begin(), extents_.end(), address,
                               [](Address a, const Extent &extent) { return a < extent.start; });
  if (next == extents_.begin() || address >= std::prev(next)->end)
    return std::nullopt;
  return std::prev(next)->generation;
}

} // namespace dnheap
