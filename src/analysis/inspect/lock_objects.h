// Locks: whatever threads take and wait for, as far as objects and sync blocks tell: .NET's Monitor (in an object's
// header or its sync block), System.Threading.Lock, ReaderWriterLockSlim, SemaphoreSlim, ManualResetEventSlim. Two
// walks of the heap and one look at each object's header. One thread.
#pragma once
#include "analysis/inspect/field_reader.h"
#include "runtime/coreclr/monitors.h"
#include "snapshot/snapshot.h"

namespace dnheap {

enum class LockKind : u8 { thin_lock, monitor, lock, reader_writer, semaphore, event };
// "thin_lock", "monitor", "lock", "reader_writer", "semaphore", "event"
const char *name_of(LockKind kind);

struct LockObject {
  Address object = 0;
  LockKind kind = LockKind::thin_lock;
  bool is_held = false;
  std::optional<u32> owner; // index in threads(); absent: nobody, or it is not told
  u64 recursion = 0;        // how often its owner has taken it
  u64 waiters = 0;          // as it says itself
  std::string state;        // "0 of 4 free", "3 readers"; empty: nothing to add
  std::vector<u32> waiting; // threads that are known to
};

struct LockSet {
  std::vector<ThreadData> threads;
  std::vector<LockObject> locks; // by address
  std::vector<MonitorWait> monitor_waits;
  std::map<Address, Address> by_inner; // object that waiters wait for inside → semaphore or event
  std::map<Address, Address> by_node;  // task of an asynchronous waiter → its semaphore
  std::vector<std::string> problems;

  std::map<u64, u32> by_os_id, by_managed_id; // → thread

  std::optional<u32> thread_with_os_id(u64 id) const;
  std::optional<u32> thread_with_managed_id(u64 id) const;
  LockObject *find(Address object); // null: none
};

LockSet find_locks(Snapshot &snapshot);

} // namespace dnheap
