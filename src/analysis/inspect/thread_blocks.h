// ThreadBlocks: the lock, event or task that a thread is blocked on, told without a walk of the heap: by the note that
// the runtime keeps of who waits for a Monitor, and by what the methods that wait hold on the thread's stack. Reads all
// sync blocks once; some µs per thread then. It tells less than ThreadWaits, which knows all locks and tasks. One
// thread.
#pragma once
#include "analysis/inspect/lock_reader.h"
#include "runtime/coreclr/monitors.h"

namespace dnheap {

struct ThreadBlock {
  enum class Kind : u8 { monitor, pulse, lock, task };
  Kind kind = Kind::lock; // lock: any object that LockReader knows
  Address object = 0;
  std::optional<u32> owner; // index in the list of threads
};

class ThreadBlocks {
public:
  // `threads` must outlive it.
  ThreadBlocks(const Runtime &runtime, std::span<const ThreadData> threads);

  // Nothing: it is not blocked, or that cannot be told. `waiting`: how many frames from the innermost on are about
  // waiting. `index`: of the thread in the list.
  std::optional<ThreadBlock> find(u32 index, const WalkedStack &stack, u64 waiting);

private:
  struct Candidate {
    Address object = 0;
    std::optional<LockKind> kind; // nothing: a task
  };

  std::vector<Candidate> held_by(const WalkedStack &stack, u64 waiting);
  bool is_task(Address method_table) const;
  ThreadBlock block_on(const Candidate &candidate);

  const Runtime &runtime_;
  const BaseTypes bases_;
  ThreadNumbers numbers_;
  LockReader locks_;
  std::map<u32, MonitorWait> monitor_waits_;             // by thread
  std::map<Address, std::optional<u32>> monitor_owners_; // by object
  mutable std::map<Address, bool> task_types_;
};

} // namespace dnheap
