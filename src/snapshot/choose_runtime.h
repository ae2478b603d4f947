// choose_runtime(): the runtime of a process that a snapshot reads.
#pragma once
#include "runtime/runtime.h"
#include "target/target.h"

#include <memory>

namespace dnheap {

struct SnapshotOptions;

// Returns the runtime that SnapshotOptions::runtime chooses; else, with several, the one that has a GC heap, with a
// note in the target that names the others. Reads a debug file for it. Throws Error if there is none, or none has a
// heap; UsageError if more than one has and none is chosen.
std::unique_ptr<Runtime> choose_runtime(Target &target, const SnapshotOptions &options);

} // namespace dnheap
