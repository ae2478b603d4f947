// The table `memory_info` of `gc`: what the GC last reported about memory (gc_memory_info.h). Not for several threads
// at once.
#pragma once
#include "analysis/shapes/gc_memory_info.h"
#include "report/table.h"

#include <string>

namespace dnheap {

struct ReportedMemory {
  FoundMemoryInfo found;
  std::string why_not; // if none is known
};

// Looks at the objects in gen0 and gen1. Throws Interrupted; other errors are the reason why nothing is known.
ReportedMemory recent_reported_memory(const Snapshot &snapshot);
report::Table gc_memory_table(const ReportedMemory &reported, const GCSettings &settings);

} // namespace dnheap
