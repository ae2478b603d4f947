// CollectedPart: what of the heap an interrupted collection was planning, or moving: there headers and references may
// be wrong without any damage. A reference into it may already lead to where its object will be. Built once, immutable;
// O(log segments) each.
#pragma once
#include "heap/heap.h"

namespace dnheap {

class CollectedPart {
public:
  // `oldest`: of the generations that are collected (heap/plan_traces.h). `bounds`: of the GC's memory, if known.
  CollectedPart(const Heap &heap, GCSegmentGeneration oldest, std::optional<std::pair<Address, Address>> bounds);

  // "gen0", "gen0 and gen1", "all generations"
  std::string name() const;
  // Does an object there, or what is no sound object, lie in it?
  bool holds(Address address) const;
  // Can this be where a moving object will be? `is_in_object`: some object lies there.
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
