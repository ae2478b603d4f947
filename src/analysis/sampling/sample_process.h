// sample_process(): stops a running process for moments, over some seconds, and shows what its threads did. Each stop
// lasts only while registers, stacks and the memory that the last sample needed are copied; frames are followed, and
// methods named, while the process runs again. Linux. Not for several threads at once.
#pragma once
#include "report/answer.h"
#include "snapshot/snapshot.h"

namespace dnheap {

struct SamplingOptions {
  double seconds = 10;
  // Seconds from one stop to the next, on average; more if the process would stand still for more than a twentieth of
  // the time.
  double every = 0.1;
};

// Cancelled, it returns the answer for the samples taken until then, if there are any; else it throws Interrupted. If
// the process ends, so does the sampling. Throws Error if the process cannot be read, or has no .NET runtime.
report::Answer sample_process(u64 pid, const SnapshotOptions &options, const SamplingOptions &sampling);

} // namespace dnheap
