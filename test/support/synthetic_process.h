// SyntheticProcess: a child of the test program in whose memory a HeapBuilder's process lies at its own addresses, the
// modules mapped from files of their names: a .NET process that runs, to be attached to. Only for targets of the format
// that this machine has.
#pragma once
#include "support/child_process.h"
#include "support/run.h"
#include "target/target.h"

#include <memory>

namespace dnheap::test {

class SyntheticProcess {
public:
  // The child's main thread calls `repeat` again and again: there the target's addresses are pointers. Null: something
  // of the test program itself lies where the target should, which chance decides.
  static std::unique_ptr<SyntheticProcess> start(
      const Target &target, const std::function<void()> &repeat = [] {});

  u64 pid() const { return child_.pid(); }
  bool goes_on() const { return child_.goes_on(); }

private:
  SyntheticProcess(const Target &target, const std::function<void()> &repeat);

  TemporaryFolder folder_;
  ChildProcess child_;
};

} // namespace dnheap::test
