// Locks: the things that threads take and wait for, as far as objects and sync blocks show them: .NET's Monitor (in an
// object's header or its sync block), System.Threading.Lock, ReaderWriterLockSlim, SemaphoreSlim, ManualResetEventSlim;
// and if .NET's own wait subsystem keeps them in objects, Mutex, Semaphore and the events. Costs two walks of the heap
// and one look at each object's header. Not for several threads at once.
#pragma once
#include "analysis/waits/kinds/lock_reader.h"
#include "analysis/waits/kinds/wait_targets.h"
#include "base/notes.h"
#include "runtime/coreclr/threads/monitors.h"
#include "snapshot/snapshot.h"

#include <memory>
#include <set>

namespace dnheap {

// A semaphore that a BlockingCollection keeps for its waiters.
struct CollectionPart {
  Address collection = 0;
  bool is_for_place = false; // true: its waiters want to add to a full collection; false: to take from an empty one
  bool is_complete = false;  // nobody may add any more
};

struct LockSet : ThreadNumbers {
  std::vector<ThreadData> threads;
  std::vector<LockObject> locks; // by address
  std::vector<MonitorWait> monitor_waits;
  std::map<Address, Address> by_inner;           // inner object for which threads wait → its semaphore or event
  std::map<Address, Address> by_lock;            // System.Threading.Lock → the object that it is the Monitor of
  std::map<Address, Address> by_node;            // task of an asynchronous waiter → its semaphore
  std::map<Address, CollectionPart> collections; // by semaphore
  std::set<Address> constructed;                 // types whose static constructors somebody waits for
  std::unique_ptr<WaitTargets> targets;          // null: threads wait for nothing that is kept in objects
  Notes problems;

  const LockObject *find(Address object) const; // null: none
  LockObject *find(Address object);
  void sort_locks(); // by address and kind, for find()
  // A thread that has ended never releases its locks.
  bool has_ended(u32 thread) const { return threads[thread].os_id == u64{0}; }
  bool is_orphaned(const LockObject &lock) const { return lock.is_held && lock.owner && has_ended(*lock.owner); }
};

LockSet find_locks(const Snapshot &snapshot);

} // namespace dnheap
