// RecordedRuntime: stands for the runtime of a process of which nothing is known but a listing of its heap
// (target/heap_record.h): objects with their types, sizes and references, and roots. It has no threads, no handles, no
// fields, and no GC contract: functions of gc() throw Error.
#pragma once
#include "runtime/recorded/recorded_fields.h"
#include "runtime/recorded/recorded_types.h"
#include "runtime/runtime.h"

namespace dnheap {

class RecordedRuntime : public Runtime {
public:
  // `target` must have a record.
  RecordedRuntime(const Target &target, const Module &module);

  const char *kind() const override { return "recorded"; }
  const HeapRecord *record() const override { return &record_; }
  TypeSystem &types() const override { return types_; }
  Fields &fields() const override { return fields_; }
  std::vector<GCHeapSegment> heap_segments(Notes &notes) const override;
  std::vector<AllocationContext> allocation_contexts(Notes &) const override { return {}; }
  GCFlavour gc_flavour() const override { return {}; }
  std::optional<bool> gc_structures_valid(Notes &) const override { return true; }
  std::vector<ThreadData> threads(Notes &) const override { return {}; }
  std::vector<StaticRoot> static_roots(Notes &) const override { return {}; }

private:
  const HeapRecord &record_;
  mutable RecordedTypes types_;
  mutable RecordedFields fields_;
};

} // namespace dnheap
