// Heap: the layout of the heap: the GC's segments, the allocation contexts inside them, and the ObjectRanges that
// remain to be walked. Built once from a Runtime in time proportional to the number of segments; reads no object.
// Immutable afterwards.
#pragma once
#include "base/notes.h"
#include "runtime/runtime.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

using HeapSegment = GCHeapSegment;
using HeapSegment = GCHeapSegment;

// A run of adjacent objects of one generation, without allocation contexts, with all memory known.
struct ObjectRange {
  Address address = 0;
  u64 size = 0;
  Bytes bytes;     // empty if the stretch lies in several pieces of the dump: the walk then gathers it into a buffer
  u32 segment = 0; // index into Heap::segments()
  GCSegmentGeneration generation = GCSegmentGeneration::gen0; // of that segment
  u8 alignment = 8;                                           // of object sizes
  bool starts_with_object = true; // false: memory before it is missing, so the first object must be searched for

  Address end() const { return address + size; }
};

// A stretch of a segment that was not, or could not be, walked.
struct Gap {
  Address start = 0, end = 0;
  std::string_view reason; // a literal, or a text of the Heap that found it
};

class Heap {
public:
  explicit Heap(const Runtime &runtime);

  std::span<const HeapSegment> segments() const { return segments_; } // by heap, then as the GC lists them
  std::span<const ObjectRange> ranges() const { return ranges_; }     // by address
  // Returns the stretches that have no ObjectRange because they are not in the dump, each with the target's reason.
  // Gaps found while walking are in WalkResult.
  std::span<const Gap> gaps() const { return gaps_; }
  // True if a segment's used part contains this address. O(log segments).
  bool holds(Address address) const;
  // True if a frozen segment's used part contains this address: the GC never collects objects there. O(log segments).
  bool is_frozen(Address address) const;
  // Return Σ (end − start) of all segments, and the part of that sum taken by allocation contexts.
  u64 segment_bytes() const { return segment_bytes_; }
  u64 context_bytes() const { return context_bytes_; }
  u32 context_count() const { return context_count_; }
  // Allocation-context bytes of one segment.
  u64 context_bytes(u32 segment) const { return segment_context_bytes_[segment]; }
  // True if a collection was planning, or moving objects: then words of the collection lie between objects
  // (heap/plug_words.h).
  bool is_planned() const { return is_planned_; }
  // Returns what is known about lists that ended early, contexts outside of all segments, and similar problems.
  const Notes &notes() const { return notes_; }

private:
  using Extents = std::vector<std::pair<Address, Address>>;

  static bool is_in(const Extents &extents, Address address);
  void collect_absent(const Target &target);
  void add_segments(std::vector<HeapSegment> segments);
  void collect_contexts(const Runtime &runtime);
  void add_problem(std::string problem);
  void cut_segment(u32 index);
  void cut_stretch(const ObjectRange &like, Address start, Address end);
  void add_gaps(Address start, Address end);

  struct Context : AllocationContext {
    bool in_segment = false;
  };

  const Memory *memory_;
  u64 min_object_size_;             // kept free after an allocation context
  std::vector<AbsentRange> absent_; // those of the target, without overlaps
  std::vector<HeapSegment> segments_;
  Extents extents_, frozen_extents_; // of all segments, and of frozen ones, by address
  std::vector<Context> contexts_;    // sorted by pointer, none empty
  std::vector<ObjectRange> ranges_;
  std::vector<Gap> gaps_;
  Notes notes_;
  std::vector<u64> segment_context_bytes_;
  u64 segment_bytes_ = 0, context_bytes_ = 0;
  u32 context_count_ = 0;
  bool is_planned_ = false;
  u64 more_problems_ = 0; // problems beyond the kept ones
};

} // namespace dnheap
