// LockReader: what one lock object says of itself, by its fields: System.Threading.Lock, ReaderWriterLockSlim and its
// predecessor, SemaphoreSlim, ManualResetEventSlim, CountdownEvent, Barrier, and types that derive from them. A few
// reads for each; no walk. One thread.
#pragma once
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "runtime/coreclr/monitors.h"
#include "runtime/thread_data.h"

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
  bool is_unknown = false;   // what follows could not be read
  std::optional<u32> owner;  // index in the list of threads; absent: nobody, or it is not told
  u64 recursion = 0;         // how often its owner has taken it; 0: not held, or not known
  u64 waiters = 0;           // as it says itself
  bool is_abandoned = false; // a Mutex that a thread had when it ended
  u64 permits = 0;           // of a semaphore with a limit; 0: it has none
  std::string state;         // "0 of 4 free", "3 readers, …"; empty: nothing to add
  std::vector<u32> waiting;  // threads that are known to
  // Of ReaderWriterLockSlim: how many read, and threads that are known to.
  u64 reader_count = 0;
  std::vector<u32> readers;
};

// Threads by the numbers that locks name them by.
struct ThreadNumbers {
  std::map<u64, u32> by_os_id, by_managed_id; // → index in the list of threads

  void add(std::span<const ThreadData> threads);
  std::optional<u32> thread_with_os_id(u64 id) const;
  std::optional<u32> thread_with_managed_id(u64 id) const;
};

class LockReader {
public:
  // `threads` must outlive it.
  LockReader(const Runtime &runtime, const ThreadNumbers &threads)
      : fields_(runtime), bases_(runtime), threads_(threads),
        has_managed_monitors_(runtime.descriptor().try_offset("SyncBlock", "Lock").has_value()) {}

  // Of a type of objects; nothing: they are no locks.
  std::optional<LockKind> kind_of(Address method_table) const;
  // Of such a kind.
  LockObject read(Address object, LockKind kind);
  // Of an object's Monitor, be it an object itself or not.
  LockObject read_monitor(const Monitor &monitor);
  // What threads wait for inside it: the object whose Monitor a semaphore or an event uses, the event of a countdown.
  std::vector<Address> inner_of(Address object, LockKind kind);
  // The tasks of those that wait for a semaphore asynchronously.
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
  const bool has_managed_monitors_; // then a Lock names its owner by the program's number, whatever the runtime
  mutable std::map<Address, std::optional<LockKind>> kinds_;
};

} // namespace dnheap
