// GCDesc: where the references of a type's objects lie, as the runtime keeps it in front of the MethodTable. Decoded
// and checked once per type, so that reading an object's references needs no check but that of its size. Any thread.
// Source: dotnet/runtime src/coreclr/gc/gcdesc.h; NativeAOT's EETypes have the same.
//
//   … | series n | … | series 1 | count | MethodTable     each series {size, offset}, two words; it grows downwards
//   … | {references, skip} n | … | {…} 1 | offset | count < 0 | MethodTable     arrays of structs: a pattern that
//   repeats
#pragma once
#include "target/memory.h"

#include <optional>
#include <vector>

namespace dnheap {

class GCDesc {
public:
  GCDesc() = default; // no references

  // `base_size` and `component_size`: of the type's objects, header included, as in its MethodTable. Nullopt where the
  // words are not in the target's memory, or name places that are not inside an object.
  static std::optional<GCDesc> at(const Memory &memory, Address method_table, u32 base_size, u32 component_size);

  bool empty() const { return runs_.empty(); }

  // Calls visit(slot) with a pointer to each reference's bytes. `object`: at its MethodTable; `size`: the object's,
  // header included, not rounded up, all of it readable.
  template <class Visit> void for_each_slot(const std::byte *object, u64 size, Format format, Visit &&visit) const {
    const u64 p = format.pointer_size;
    if (!repeats_) {
      for (const Run &run : runs_) {
        const std::byte *slot = object + run.offset;
        // A run that grows reaches as far beyond its own end as the object does beyond the base size.
        const std::byte *end = slot + run.bytes + (run.grows ? size - base_size_ : 0);
        for (; slot < end; slot += p)
          visit(slot);
      }
      return;
    }
    const std::byte *slot = object + first_, *end = object + (size - p);
    while (slot < end)
      for (const Run &run : runs_) {
        if (static_cast<u64>(end - slot) < run.bytes)
          return;
        for (const std::byte *stop = slot + run.bytes; slot < stop; slot += p)
          visit(slot);
        slot += run.offset;
      }
  }

private:
  struct Run {
    u32 offset = 0; // from the object's MethodTable; where runs repeat: what is skipped behind the run
    u32 bytes = 0;
    bool grows = false;
  };
  bool add_series(u64 size, u64 offset, u32 component_size, Format format);

  std::vector<Run> runs_;
  u32 base_size_ = 0, first_ = 0;
  bool repeats_ = false;
};

} // namespace dnheap
