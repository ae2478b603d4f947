// CollectedPart: the part of the heap that an interrupted collection was planning or moving. Headers and references
// there may look wrong without any damage, and a reference into it may already lead to its object's new place. Built
// once, immutable; O(log segments) per question.
#pragma once
#include "heap/heap.h"

namespace dnheap {

class CollectedPart {
public:
  // `oldest`: the oldest generation being collected (heap/plan_traces.h). `bounds`: the GC's memory, if known.
  CollectedPart(const Heap &heap, GCSegmentGeneration oldest, std::optional<std::pair<Address, Address>> bounds);

  // "gen0", "gen0 and gen1", "all generations"
  std::string name() const;
  // True if the address lies in a generation being collected, whether or not an object is there.
  bool holds(Address address) const;
  // True if a moving object may end up at this address. `is_in_object`: an object covers the address now.
  bool may_become_object(Address address, bool is_in_object, u64 alignment) const;

private:
  std::optional<GCSegmentGeneration> generation_of(Address address) const;
  bool is_collected(GCSegmentGeneration generation) const;

  struct Extent {
    Address start, end;
    GCSegmentGeneration generation;
  };
  std::vector<Extent> extents_; // by address
  const GCSegmentGeneration oldest_;
  const std::optional<std::pair<Address, Address>> bounds_;
};

} // namespace dnheap
