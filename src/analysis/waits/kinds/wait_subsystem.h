// WaitSubsystem: reads waits of threads and owners of Mutexes from the objects in which .NET's own wait subsystem keeps
// them. On Unix, CoreCLR (from .NET 11 on) and NativeAOT keep every wait of managed code in this way, but not the
// runtime's own waits. A managed Thread has a ThreadWaitInfo, which lists WaitableObjects. A WaitableObject is behind
// each handle of an event, a semaphore, a Mutex. A few reads per thread; no walk. Not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"
#include "runtime/facts/thread_data.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace dnheap {

// A thread's current wait.
struct ManagedWait {
  std::vector<Address> objects; // WaitableObjects; empty: it sleeps
  bool is_for_all = false;      // true: it waits for all of the objects; false: for any of them
};

// The object behind a handle.
struct WaitableObject {
  enum class Kind : u8 { manual_reset, auto_reset, semaphore, mutex };
  Kind kind = Kind::manual_reset;
  u32 signals = 0, most_signals = 0; // of an event: whether it is set; of a semaphore: permits
  // For a Mutex:
  bool is_owned = false;
  std::optional<u32> owner; // index in the list of threads; absent: nobody, or unknown
  u64 times = 0;            // how often its owner has taken it
  bool is_abandoned = false;
  std::vector<u32> waiting; // threads, first come first
};

class WaitSubsystem {
public:
  WaitSubsystem(const Runtime &runtime, std::span<const ThreadData> threads);

  // True if managed Threads record what they wait for. False: the runtime waits natively, or its types have no names.
  bool is_known() const { return is_known_; }
  // Returns nullopt if the thread does not wait in this subsystem, or if that is unknown.
  std::optional<ManagedWait> wait_of(u32 thread);
  // Returns nullopt if the object is not a WaitableObject.
  std::optional<WaitableObject> read(Address waitable);
  // Returns the object that the handle of a WaitHandle stands for, a WaitableObject or a named Mutex; 0: none.
  Address behind(Address wait_handle);
  // Reads a Mutex that has a name. The Mutex lies in memory that processes share; each process has an object that
  // records which of its own threads has it. Nothing records the waiters. nullopt: the object is not a Mutex with a
  // name.
  std::optional<WaitableObject> read_named_mutex(Address object);

  // Returns the thread of a managed Thread.
  std::optional<u32> thread_of(Address object) const;
  const std::map<Address, u32> &thread_objects() const { return thread_objects_; }

private:
  Address wait_info_of(Address thread_object);
  std::vector<u32> waiting_for(Address waitable);

  const Runtime &runtime_;
  FieldReader fields_;
  std::vector<Address> objects_;                // managed Threads, by index in the list; 0: none
  const std::map<Address, u32> thread_objects_; // → index in the list
  bool is_known_ = false;
};

} // namespace dnheap
