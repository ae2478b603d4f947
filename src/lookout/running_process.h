// RunningProcess: a process of this machine, for Lookout. A look costs milliseconds, and does not stop it; a core stops
// it for as long as its memory takes to be copied.
#pragma once
#include "lookout/lookout.h"

namespace dnheap {

class RunningProcess : public WatchedProcess {
public:
  // `folder`: where the copy of its memory goes when this machine, or container, has too little of it. Throws Error
  // where the process may not be read, or has no GC heap.
  RunningProcess(u64 pid, const SnapshotOptions &options, bool no_values, std::string folder);

  u64 pid() const override { return pid_; }
  std::string runtime() const override { return reader_.runtime(); }
  bool has_ended() const override; // or is another process by now
  Figures look() override { return reader_.look(); }
  std::string problem() const override { return reader_.problem(); }
  TakenCore take(const std::string &path) override;

private:
  u64 pid_;
  std::optional<u64> start_;
  SnapshotOptions options_;
  bool no_values_;
  std::string folder_;
  FiguresReader reader_;
};

} // namespace dnheap
