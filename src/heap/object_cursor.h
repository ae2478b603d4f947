// ObjectCursor: returns the objects of the heap one by one, in address order, for streaming output. Not for several
// threads at once. Takes the memory of one batch, the objects of a MiB. Returns exactly the objects that HeapWalk
// visits.
#pragma once
#include "heap/walk.h"

namespace dnheap {

class ObjectCursor {
public:
  ObjectCursor(const Heap &heap, const Runtime &runtime);

  // Returns the next object, or null at the end; valid until the next call. Throws Error if part of the memory was lost
  // since the cursor was made (base/host/mapping_faults.h); earlier objects were correct.
  const Object *next();
  // Returns the MethodTable of the object that next() returned.
  Address method_table() const { return types_.method_table(batch_[position_ - 1].type); }
  u32 type() const { return batch_[position_ - 1].type; } // numbered from 0, one number for each MethodTable
  GCSegmentGeneration generation() const { return heap_.ranges()[range_].generation; }

private:
  bool fill();
  void check_memory();

  const Heap &heap_;
  const Memory &memory_;
  TypeTable types_;
  std::vector<Object> batch_;
  u64 position_ = 0; // in batch_
  u64 range_ = 0;    // index of the range that batch_ is from
  u64 at_ = 0;       // offset in it of the first byte after batch_
  bool started_ = false;
  u64 losses_ = 0;                // the number of losses of memory that did not matter
  std::vector<std::byte> buffer_; // holds ranges that lie in several pieces of the dump
  std::optional<RangeBytes> bytes_;
};

} // namespace dnheap
