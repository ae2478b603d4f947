// GCDesc: the positions of references in a type's objects, which the runtime stores before the MethodTable. Decoded and
// checked once per type, so that reading an object's references only needs a check of its size. Any thread. Source:
// dotnet/runtime src/coreclr/gc/gcdesc.h; NativeAOT's EETypes have the same.
//
//   … | series n | … | series 1 | count | MethodTable     each series {size, offset}, two words; it grows downwards
//   … | {references, skip} n | … | {…} 1 | offset | count < 0 | MethodTable     arrays of structs: a pattern that
//   repeats
#pragma once
#include "target/memory.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace dnheap {

class GCDesc {
public:
  // Arrays can be visited in slices of about so many bytes, by several threads.
  static constexpr u64 slice_bytes = 32 << 10;

  GCDesc() = default; // no references

  // `base_size` and `component_size`: those of the type's objects, header included, as in its MethodTable. Nullopt if
  // the words are not in the target's memory, or name positions that are not inside an object.
  static std::optional<GCDesc> at(const Memory &memory, Address method_table, u32 base_size, u32 component_size);

  // Adjacent references.
  struct Run {
    u32 offset = 0; // from the object's MethodTable; in a repeating pattern: the bytes skipped after the run
    u32 bytes = 0;
    bool grows = false; // the run is longer by the bytes that the object has beyond its base size
  };

  bool empty() const { return runs_.empty(); }
  // Returns the series in the runtime's order: from the highest address down.
  std::span<const Run> runs() const { return runs_; }
  // For arrays of structs, returns where the pattern of runs begins that repeats; nullopt: each run has its own offset.
  std::optional<u32> repeats_from() const { return repeats_ ? std::optional(first_) : std::nullopt; }

  // Calls visit(slot) with a pointer to each reference's bytes, in ascending order within each run. `object` points to
  // its MethodTable. `size` is the object's, header included, not rounded up, all of it readable, at least the base
  // size.
  template <class Visit> void for_each_slot(const std::byte *object, u64 size, Format format, Visit &&visit) const {
    const u64 p = format.pointer_size;
    if (repeats_) {
      visit_pattern(object + first_, object + (size - p), p, visit);
      return;
    }
    for (const Run &run : runs_) {
      const std::byte *slot = object + run.offset;
      // A run that grows extends beyond its own end by as much as the object extends beyond its base size.
      const std::byte *end = slot + run.bytes + (run.grows ? size - base_size_ : 0);
      for (; slot < end; slot += p)
        visit(slot);
    }
  }

  // Returns how many slices an object of that size has; 1 unless it is a large array.
  u64 slices(u64 size) const {
    if (size - base_size_ <= 2 * slice_bytes || component_size_ == 0 || runs_.empty())
      return 1;
    return (size - base_size_ + slice_size() - 1) / slice_size();
  }
  // Visits the slots of one slice (0, 1, …); all slices together have the slots of for_each_slot().
  template <class Visit>
  void for_each_slot_of_slice(const std::byte *object, u64 size, u64 slice, Format format, Visit &&visit) const {
    const u64 p = format.pointer_size, from = slice * slice_size(), count = slices(size);
    const std::byte *last = object + (size - p);
    if (repeats_) {
      const std::byte *begin = object + first_ + from;
      visit_pattern(begin, slice + 1 < count ? begin + slice_size() : last, p, visit);
      return;
    }
    const std::byte *begin = object + runs_[0].offset + from;
    const std::byte *end =
        slice + 1 < count ? begin + slice_size() : object + runs_[0].offset + runs_[0].bytes + (size - base_size_);
    for (const std::byte *slot = begin; slot < end; slot += p)
      visit(slot);
  }

private:
  bool add_series(u64 size, u64 offset, u32 component_size, Format format);
  u64 slice_size() const { return std::max(slice_bytes / component_size_, u64{1}) * component_size_; } // whole elements

  template <class Visit> void visit_pattern(const std::byte *slot, const std::byte *end, u64 p, Visit &&visit) const {
    while (slot < end)
      for (const Run &run : runs_) {
        if (slot >= end || static_cast<u64>(end - slot) < run.bytes)
          return;
        for (const std::byte *stop = slot + run.bytes; slot < stop; slot += p)
          visit(slot);
        slot += run.offset;
      }
  }

  std::vector<Run> runs_;
  u32 base_size_ = 0, first_ = 0, component_size_ = 0;
  bool repeats_ = false;
};

} // namespace dnheap
