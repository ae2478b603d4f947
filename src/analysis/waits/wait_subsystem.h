// WaitSubsystem: what a thread waits for, and who has a Mutex, as .NET's own wait subsystem keeps it in objects: in
// CoreCLR from .NET 11 on and in NativeAOT, both on Unix, every wait of managed code but the runtime's own. A managed
// Thread has a ThreadWaitInfo, that lists WaitableObjects, one behind each handle of an event, a semaphore, a Mutex. A
// few reads per thread; no walk. One thread.
#pragma once
#include "analysis/shapes/field_reader.h"
#include "runtime/thread_data.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace dnheap {

// What a thread waits for now.
struct ManagedWait {
  std::vector<Address> objects; // WaitableObjects; none: it sleeps
  bool is_for_all = false;      // of several: all of them, else any
};

// What lies behind a handle.
struct WaitableObject {
  enum class Kind : u8 { manual_reset, auto_reset, semaphore, mutex };
  Kind kind = Kind::manual_reset;
  u32 signals = 0, most_signals = 0; // of an event: whether it is set; of a semaphore: permits
  // Of a Mutex.
  bool is_owned = false;
  std::optional<u32> owner; // index in the list of threads; absent: nobody, or nobody that is known
  u64 times = 0;            // how often its owner has taken it
  bool is_abandoned = false;
  std::vector<u32> waiting; // threads, first come first
};

class WaitSubsystem {
public:
  WaitSubsystem(const Runtime &runtime, std::span<const ThreadData> threads);

  // Do managed Threads say what they wait for? False: the runtime waits natively, or its types have no names.
  bool is_known() const { return is_known_; }
  // Nothing: it waits for nothing that way, or that cannot be told.
  std::optional<ManagedWait> wait_of(u32 thread);
  // Nothing: the object is none.
  std::optional<WaitableObject> read(Address waitable);
  // The object that the handle of a WaitHandle stands for, a WaitableObject or a named Mutex; 0: none.
  Address behind(Address wait_handle);
  // Of a Mutex that has a name, which lies in memory shared by processes, and in each of these an object says what its
  // own threads have of it; who waits is known to nobody. Nothing: the object is none.
  std::optional<WaitableObject> read_named_mutex(Address object);

  // By managed Thread.
  std::optional<u32> thread_of(Address object) const;
  const std::map<Address, u32> &thread_objects() const { return thread_objects_; }

private:
  Address wait_info_of(Address thread_object);
  std::vector<u32> waiting_for(Address waitable);

  const Runtime &runtime_;
  FieldReader fields_;
  std::vector<Address> objects_;          // managed Threads, by index in the list
  std::map<Address, u32> thread_objects_; // → index in the list
  bool is_known_ = false;
};

} // namespace dnheap
