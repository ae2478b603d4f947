// LiveGc: reads the sizes of a running process's generations repeatedly without stopping it. It finds the runtime's
// data structures once, in some 10 ms; a look then takes a few ms, reads kilobytes, and keeps nothing. Not for several
// threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <array>

namespace dnheap {

struct GcFigures {
  // By GCSegmentGeneration: bytes up to the last object, including dead objects and holes.
  std::array<u64, generation_count> bytes{};
  std::vector<GCOomData> out_of_memory; // the last failure of each heap

  u64 of(GCSegmentGeneration generation) const { return bytes[static_cast<u64>(generation)]; }
};

class LiveGc {
public:
  // Throws Error if the process may not be read, or has no heap (yet).
  LiveGc(u64 pid, const SnapshotOptions &options);

  // ".NET 10.0.14"
  const std::string &runtime() const { return runtime_; }
  // Nullopt: the GC was at work at each attempt. A short collection during a look may go unnoticed: the figures are
  // wrong then, once. Throws Error when the process has ended.
  std::optional<GcFigures> look() const;

private:
  std::optional<GcFigures> try_to_look() const;

  u64 pid_;
  SnapshotOptions options_;
  std::string runtime_;
  ContractDescriptor descriptor_;
};

} // namespace dnheap
