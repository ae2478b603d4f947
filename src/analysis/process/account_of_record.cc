#include "analysis/process/account_of_record.h"

namespace dnheap {

namespace {

u64 aligned_bytes(const HeapTally &tally) {
  u64 out = 0;
  for (const SegmentTally &segment : tally.segments)
    out += segment.objects.aligned_bytes;
  return out;
}

} // namespace

AccountMap account_of_record(const Snapshot &snapshot, const std::optional<HeapTally> &live) {
  AccountMap out;
  u64 free = 0;
  for (const SegmentTally &segment : snapshot.tally().segments)
    free += segment.free.aligned_bytes;
  auto set = [&](MemoryClass memory, u64 bytes) {
    ClassSum &sum = out.classes[static_cast<u8>(memory)];
    sum.bytes = sum.stored = bytes;
    out.mapped += bytes;
    out.stored += bytes;
  };
  const u64 all = aligned_bytes(snapshot.tally()), alive = live ? aligned_bytes(*live) : 0;
  set(live ? MemoryClass::live_objects : MemoryClass::objects, live ? alive : all);
  set(MemoryClass::dead_objects, live ? all - std::min(alive, all) : 0);
  set(MemoryClass::free_objects, free);
  return out;
}

} // namespace dnheap
