// LockReader: reads the state of one lock object from its fields: System.Threading.Lock, ReaderWriterLockSlim and its
// predecessor, SemaphoreSlim, ManualResetEventSlim, CountdownEvent, Barrier, and types that derive from them. A few
// reads for each; no walk. Not for several threads at once.
#pragma once
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "runtime/coreclr/threads/monitors.h"
#include "runtime/facts/thread_data.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

enum class LockKind : u8 { thin_lock, monitor, lock, reader_writer, semaphore, event, mutex, countdown, barrier };
// "thin_lock", "monitor", "lock", "reader_writer", "semaphore", "event", "mutex", "countdown", "barrier"
const char *name_of(LockKind kind);

struct LockObject {
  Address object = 0;
  LockKind kind = LockKind::thin_lock;
  bool is_held = false;
  bool is_unknown = false;   // the fields below could not be read
  std::optional<u32> owner;  // index in the list of threads; absent: nobody, or unknown
  u64 recursion = 0;         // how often its owner has taken it; 0: not held, or unknown
  u64 waiters = 0;           // how many the lock counts
  bool is_abandoned = false; // a Mutex whose owner ended while it had it
  u64 permits = 0;           // of a semaphore with a limit; 0: there is no limit
  std::string state;         // "0 of 4 free", "3 readers, …"; empty: nothing to add
  std::vector<u32> waiting;  // threads that are known to wait
  // For ReaderWriterLockSlim: how many threads have it for reading, and which of these are known.
  u64 reader_count = 0;
  std::vector<u32> readers;
};

// Finds a thread by the number with which a lock names it.
struct ThreadNumbers {
  std::map<u64, u32> by_os_id, by_managed_id; // → index in the list of threads

  void add(std::span<const ThreadData> threads);
  std::optional<u32> thread_with_os_id(u64 id) const;
  std::optional<u32> thread_with_managed_id(u64 id) const;
};

class LockReader {
public:
  // `threads` must outlive this object.
  LockReader(const Runtime &runtime, const ThreadNumbers &threads)
      : fields_(runtime), bases_(runtime), threads_(threads),
        has_managed_monitors_(runtime.descriptor().try_offset("SyncBlock", "Lock").has_value()) {}

  // Returns the kind of lock that a type is; nullopt: its objects are not locks.
  std::optional<LockKind> kind_of(Address method_table) const;
  // Reads an object of that kind.
  LockObject read(Address object, LockKind kind);
  // Reads an object's Monitor, whether the Monitor is an object itself or not.
  LockObject read_monitor(const Monitor &monitor);
  // Returns the objects inside a lock that threads wait for: the object whose Monitor a semaphore or an event uses, or
  // the event of a countdown.
  std::vector<Address> inner_of(Address object, LockKind kind);
  // Returns the tasks of a semaphore's asynchronous waiters.
  std::vector<Address> asynchronous_waiters(Address semaphore);

private:
  void read_lock(LockObject &to);
  void read_reader_writer(LockObject &to);
  void read_semaphore(LockObject &to);
  void read_event(LockObject &to);
  void read_old_reader_writer(LockObject &to);
  void read_countdown(LockObject &to);
  void read_barrier(LockObject &to);
  u64 waiters_of_events(const LockObject &of);

  FieldReader fields_;
  const BaseTypes bases_;
  const ThreadNumbers &threads_;
  const bool has_managed_monitors_; // then a Lock names its owner by the managed id, whatever the runtime
  mutable std::map<Address, std::optional<LockKind>> kinds_;
};

} // namespace dnheap
