// CoreRt: the ahead-of-time compiled runtime before NativeAOT, read by its memory format "NF16". It has workstation GC
// without regions; the format has no names, no handles and no way to the threads. See runtime.h, gc_nf16.h.
#pragma once
#include "base/notes.h"
#include "runtime/corert/gc_nf16.h"
#include "runtime/corert/type_system_nf16.h"
#include "runtime/hints.h"
#include "runtime/runtime.h"
#include "runtime/unnamed_fields.h"

namespace dnheap {

struct FoundNf16Header;

class CoreRt : public Runtime {
public:
  // Throws Error if the module has no readable header, or nothing of the heap is in the dump. A contract of an unknown
  // version is not an error: its data is missing then, and is reported as missing.
  CoreRt(const Target &target, const Module &module, const RuntimeHints &hints = {});

  const char *kind() const override { return "corert"; }
  TypeSystem &types() const override { return types_; }
  Fields &fields() const override { return fields_; }
  std::vector<GCHeapSegment> heap_segments(Notes &notes) const override;
  std::vector<AllocationContext> allocation_contexts(Notes &notes) const override;
  u64 min_object_size() const override;
  GCFlavour gc_flavour() const override { return {{"workstation", "segments"}, false, false, 1}; }
  std::optional<bool> gc_structures_valid(Notes &notes) const override;

  std::vector<ThreadData> threads(Notes &) const override { return {}; }

  const Nf16Header &header() const { return header_; }
  const GcNf16 *gc_nf16() const override { return &gc_; }

private:
  CoreRt(const Target &target, const Module &module, const FoundNf16Header &found, const RuntimeHints &hints);

  Nf16Header header_;
  GcNf16 gc_;
  std::vector<Address> thread_contexts_;
  mutable TypeSystemNf16 types_; // caches
  mutable UnnamedFields fields_{types_, memory().format().pointer_size};
};

} // namespace dnheap
