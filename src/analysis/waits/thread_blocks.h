// ThreadBlocks: the lock, event or task on which a thread is blocked. Its sources are .NET's own wait subsystem, if
// there is one; else the runtime's record of waits for Monitors, and objects that the waiting methods hold on the
// thread's stack. Reads all sync blocks once, then takes some µs per thread. Walks the heap, once, only if the wait
// subsystem has a wait whose object no method of the thread holds. Reads the heap's tasks only if a thread waits for
// several of them, or for a semaphore behind asynchronous waiters. It knows less than ThreadWaits, which has all locks
// and tasks. Not for several threads at once.
#pragma once
#include "analysis/plan.h"
#include "analysis/threads/thread_text.h"
#include "analysis/waits/kinds/constructor_waits.h"
#include "analysis/waits/kinds/join_waits.h"
#include "analysis/waits/kinds/lock_reader.h"
#include "analysis/waits/kinds/wait_targets.h"
#include "base/notes.h"
#include "runtime/coreclr/threads/monitors.h"
#include "snapshot/snapshot.h"

namespace dnheap {

struct ThreadBlock {
  enum class Kind : u8 { monitor, pulse, lock, task, handle, join, static_constructor };
  Kind kind = Kind::lock; // lock: any object that LockReader knows
  Address object = 0;     // for a static constructor, its type's MethodTable
  // Index in the list of threads. For a join, the thread whose end is waited for; for a static constructor, the thread
  // that runs it.
  std::optional<u32> owner;
};

struct ThreadBlocked {
  std::vector<ThreadBlock> blocks; // several: it waits for all of these, or for any of them
  bool is_for_all = false;
};

class ThreadBlocks {
public:
  // is_not_walked: what only a walk of the heap could show stays unknown, so that each thread takes some µs.
  enum class Heap : u8 { may_be_walked, is_not_walked };

  // `threads` must outlive this object.
  ThreadBlocks(const Snapshot &snapshot, std::span<const ThreadData> threads, Heap heap = Heap::may_be_walked);

  // Returns nothing if the thread is not blocked, or if that is unknown. `index`: its index in the list; `wait`: what
  // its methods show.
  ThreadBlocked find(u32 index, const WalkedStack &stack, const WaitText &wait);
  // Lists what is unknown for all threads.
  const Notes &problems() const { return problems_; }

private:
  struct Candidate {
    Address object = 0;
    std::optional<LockKind> kind; // nullopt: the object is a task
  };
  struct TaskLinks {
    std::map<Address, Address> semaphores; // task → the semaphore for which it stands
    // Object that stands for several tasks → those of them that are pending.
    std::map<Address, std::vector<Address>> behind;
  };

  ThreadBlocked find_any(u32 index, const WalkedStack &stack, const WaitText &wait);
  std::optional<ThreadBlock> find_constructor(u32 index, const WalkedStack &stack);
  std::optional<ThreadBlock> find_native(u32 index, const WalkedStack &stack, u64 waiting);
  ThreadBlocked find_managed(const ManagedWait &wait, const WalkedStack &stack, const WaitText &text);
  std::optional<ThreadBlock> find_named_mutex(const WalkedStack &stack, u64 waiting);
  ThreadBlock block_on(const WaitTargets::Target &target, const WalkedStack &stack, u64 waiting);
  std::optional<ThreadBlock> task_behind(Address event, const std::vector<Candidate> &held, const WalkedStack &stack,
                                         u64 waiting);
  bool stands_in(const WalkedStack &stack, u64 frames, std::string_view method) const;
  Address semaphore_behind(Address task);
  void name_tasks(ThreadBlocked &blocked);
  const TaskLinks &task_links();
  void add_held(const WalkedStack &stack, u64 waiting);
  void add_all();
  std::vector<Candidate> held_by(const WalkedStack &stack, u64 waiting);
  bool is_task(Address method_table) const;
  bool is_inside(Address object, const Candidate &of);
  ThreadBlock block_on(const Candidate &candidate);

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const std::span<const ThreadData> threads_;
  std::optional<std::map<u32, ConstructorWait>> constructor_waits_; // absent until a thread may have one
  const BaseTypes bases_;
  ThreadNumbers numbers_;
  const JoinWaits joins_;
  LockReader locks_;
  WaitTargets targets_;
  Notes problems_;
  bool has_all_ = false;                                 // the heap has been walked
  std::optional<TaskLinks> task_links_;                  // absent until the heap's tasks have been read
  std::map<u32, MonitorWait> monitor_waits_;             // by thread
  std::map<Address, std::optional<u32>> monitor_owners_; // by object; nothing: not held, or unknown
  mutable std::map<Address, bool> task_types_;
};

// Adds the passes that ThreadBlocks may need.
void foresee_blocks(Plan &plan);

} // namespace dnheap
