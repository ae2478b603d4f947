// CoreRt: the ahead-of-time compiled runtime before NativeAOT, read by its memory format "NF16". It has workstation GC
// without regions, and neither names nor handles nor a way to its threads. See runtime.h, gc_nf16.h.
#pragma once
#include "runtime/corert/gc_nf16.h"
#include "runtime/corert/type_system_nf16.h"
#include "runtime/hints.h"
#include "runtime/runtime.h"
#include "runtime/unnamed_fields.h"

namespace dnheap {

struct FoundNf16Header;

class CoreRt : public Runtime {
public:
  // Throws Error when the module has no header that can be read, or the dump nothing of the heap. A contract of a
  // version that is not known is no error: what it would have told is missing then, and said to be.
  CoreRt(const Target &target, const Module &module, const RuntimeHints &hints = {});

  const char *kind() const override { return "corert"; }
  TypeSystem &types() const override { return types_; }
  Fields &fields() const override { return fields_; }
  std::vector<GCHeapSegment> heap_segments(std::vector<std::string> &problems) const override;
  std::vector<AllocationContext> allocation_contexts(std::vector<std::string> &problems) const override;
  u64 min_object_size() const override;
  GCFlavour gc_flavour() const override { return {{"workstation", "segments"}, false, false, 1}; }
  std::optional<bool> gc_structures_valid(std::vector<std::string> &problems) const override;

  std::vector<ThreadData> threads(std::vector<std::string> &) const override { return {}; }

  const Nf16Header &header() const { return header_; }
  const GcNf16 &gc_nf16() const { return gc_; }

private:
  CoreRt(const Target &target, const Module &module, const FoundNf16Header &found, const RuntimeHints &hints);

  Nf16Header header_;
  GcNf16 gc_;
  std::vector<Address> thread_contexts_;
  mutable TypeSystemNf16 types_; // caches
  mutable UnnamedFields fields_{types_, memory().format().pointer_size};
};

} // namespace dnheap
