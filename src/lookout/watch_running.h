// watch_running: runs `watch` for processes of this machine: the folder, the process, the clock, the Lookout. Runs on
// the calling thread until it is over.
#pragma once
#include "lookout/lookout.h"
#include "snapshot/snapshot.h"

namespace dnheap {

struct WatchWords {
  std::optional<u64> pid; // nullopt: the one .NET process on this machine, and the next one after it
  std::string folder;
  u64 keep = 3;
  bool no_values = false;
  SnapshotOptions open;
};

// Watches until the process has ended, and returns true; returns false if `open.watch` is cancelled. Throws Error if it
// cannot begin.
bool watch_running(const WatchWords &words, const LookoutOptions &options);

} // namespace dnheap
