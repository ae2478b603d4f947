// sample(): what the threads of a running process do, over some seconds: where they run, what they wait for, and who
// has the locks that others wait for. Linux. The process stands still for some milliseconds per sample, and for a
// twentieth of the time at most.
#pragma once
#include "dnheap/answer.h"
#include "dnheap/snapshot.h"

namespace dnheap::DNHEAP_ABI {

struct SampleOptions {
  double seconds = 10;
  double every = 0.1;    // seconds from one sample to the next, on average; more if stops take long
  OpenOptions open = {}; // `pause` is ignored
};

// Returns an answer with the tables `threads`, `locks` and `stacks`. If `open.progress` is cancelled, the answer is
// about the samples taken until then; without any, it throws Interrupted. Sampling ends with the process. Throws Error
// if the process cannot be read or has no .NET runtime, UsageError if the options make no sense.
Answer sample(std::uint64_t pid, const SampleOptions &options = {});

} // namespace dnheap::DNHEAP_ABI
