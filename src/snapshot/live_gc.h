// LiveGc: how large the generations of a running process are, asked again and again, without stopping it. What the
// runtime says of its layout is worked out once, in some 10 ms; a look then takes a few, reads kilobytes, and keeps
// nothing. One thread.
#pragma once
#include "snapshot/snapshot.h"

#include <array>

namespace dnheap {

struct GcFigures {
  // By GCSegmentGeneration: up to the last object, dead ones and holes included.
  std::array<u64, generation_count> bytes{};
  std::vector<GCOomData> out_of_memory; // of each heap: the last time

  u64 of(GCSegmentGeneration generation) const { return bytes[static_cast<u64>(generation)]; }
};

class LiveGc {
public:
  // Throws Error where the process may not be read, or has no heap (yet).
  LiveGc(u64 pid, const SnapshotOptions &options);

  // ".NET 10.0.14"
  const std::string &runtime() const { return runtime_; }
  // Nullopt: the GC was at work each time. A short collection may pass unseen amid a look: figures are wrong then,
  // once. Throws Error when the process has ended.
  std::optional<GcFigures> look() const;

private:
  std::optional<GcFigures> try_to_look() const;

  u64 pid_;
  SnapshotOptions options_;
  std::string runtime_;
  ContractDescriptor descriptor_;
};

} // namespace dnheap
