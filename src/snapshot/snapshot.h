// Snapshot: what an embedder opens and every analysis receives: a target with its module files laid under it, its
// runtime, its heap, and the results of walks, each built on first use and kept. Not for several threads at once; walks
// use SnapshotOptions::threads threads themselves. Functions throw Error when they cannot go on.
#pragma once
#include "base/watch.h"
#include "heap/tally.h"
#include "runtime/runtime.h"
#include "target/target.h"

#include <memory>
#include <string>
#include <vector>

namespace dnheap {

struct SnapshotOptions {
  std::vector<std::string> module_folders; // where to look for module files, besides the paths that the target names
  std::string temp_dir;                    // for decompressing; empty: see TemporaryFile
  unsigned threads = 0;                    // 0 = as many as there are processors
  std::optional<u32> runtime;              // which runtime, counted from 1, when a process has several
  Watch watch;
};

class Snapshot {
public:
  // Opens a dump. Cheap: maps the file and reads its headers; decompresses it if need be.
  static std::unique_ptr<Snapshot> open(const std::string &path, const SnapshotOptions &options = {});
  // For targets that were made otherwise (tests).
  Snapshot(std::unique_ptr<Target> target, const SnapshotOptions &options);

  const Target &target() const { return *target_; }
  const Watch &watch() const { return options_.watch; }
  unsigned threads() const { return options_.threads; }

  // Throws Error when there is none, several without a choice, or not enough of it in the dump.
  const Runtime &runtime();
  const Heap &heap();
  // Counts of all objects.
  const HeapTally &tally();
  // Counts of those that pass. Walks at every call.
  HeapTally tally(const ObjectFilter &filter);

private:
  const Module &choose_runtime() const;

  std::unique_ptr<Target> target_;
  SnapshotOptions options_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Heap> heap_;
  std::unique_ptr<HeapTally> tally_;
};

} // namespace dnheap
