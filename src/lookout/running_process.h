// RunningProcess: a process of this machine, for Lookout. A look costs milliseconds, and does not stop it; a core stops
// it while its memory is copied. One that may not be read is asked for a dump instead, from which the core is made.
#pragma once
#include "lookout/lookout.h"

namespace dnheap {

class RunningProcess : public WatchedProcess {
public:
  // `folder`: for the copy of its memory if this machine, or container, has too little memory for it. Throws Error if
  // the process may not be read, or has no GC heap.
  RunningProcess(u64 pid, const SnapshotOptions &options, bool no_values, std::string folder);

  u64 pid() const override { return pid_; }
  std::string runtime() const override { return reader_.runtime(); }
  bool has_ended() const override; // also true if its number belongs to another process now
  Figures look() override { return reader_.look(); }
  std::string problem() const override { return reader_.problem(); }
  std::string forbidden() const override { return reader_.forbidden(); }
  TakenCore take(const std::string &path) override;

private:
  TakenCore read(const std::string &path);
  // Has the process write a dump, which is removed once the core is made of it.
  TakenCore ask_for_dump(const std::string &path, const std::string &why);

  u64 pid_;
  std::optional<u64> start_;
  SnapshotOptions options_;
  bool no_values_;
  std::string folder_;
  FiguresReader reader_;
};

} // namespace dnheap
