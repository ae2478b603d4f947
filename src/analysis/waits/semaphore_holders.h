// SemaphoreHolders: who may have taken a semaphore of which no permit is left, or a Mutex that is waited for. Neither
// records an owner where a dump has it; but whoever is to give it back needs a reference to it: a frame of a thread, or
// a variable of an asynchronous method that waits for something, has one, or has one to an object that does; or a
// static field of the method's own type has it. Nothing is looked at where no semaphore has waiters and no permit; else
// all roots, the references of each asynchronous method that waits, and where static fields hold one, all stacks. One
// thread.
#pragma once
#include "analysis/threads/tasks.h"
#include "analysis/waits/lock_objects.h"
#include "objects/references.h"

#include <unordered_map>

namespace dnheap {

// By what it is told who holds something; the surer first.
enum class Grounds : u8 {
  runtime,             // notes of the runtime, fields of objects
  stack,               // a word on a stack, which may be left over
  reference,           // a reference that a method has
  reference_by_object, // one that an object has which a method refers to
  static_field,        // one in a static field of the type whose method it is
};
const char *name_of(Grounds grounds);

struct SemaphoreHolder {
  std::optional<u32> thread; // index in LockSet::threads
  TaskNumber task = no_task; // else that of an asynchronous method
  Grounds grounds = Grounds::reference;
  Address through = 0; // the object between
  std::string method;  // whose frame it is, or whose state machine; empty: cannot be told
};

class SemaphoreHolders {
public:
  SemaphoreHolders(Snapshot &snapshot, const LockSet &locks, const Tasks &tasks);

  // Semaphores without permits that somebody waits for, by address, with all who may have taken one: those that wait
  // for it themselves are among them.
  using Holders = std::vector<SemaphoreHolder>;
  const std::map<Address, Holders> &semaphores() const { return semaphores_; }

private:
  void look_at_threads(Snapshot &snapshot, const LockSet &locks);
  void look_at_methods(const Watch &watch);
  void look_at_statics(Snapshot &snapshot, const LockSet &locks);
  void add(Address semaphore, SemaphoreHolder holder);
  bool is_waiting_method(TaskNumber task) const {
    return tasks_.is_pending(task) && tasks_.state(task).value_or(-1) >= 0;
  }
  // At most so many; of an object that is none, nothing.
  std::vector<Address> references_of(Address object);
  const std::vector<Address> &semaphores_in(Address object);

  const Tasks &tasks_;
  const std::vector<Address> *static_arrays_ = nullptr; // in which static fields lie: whoever refers to one has nothing
  FieldReader fields_;
  std::optional<ReferenceReader> reader_;
  std::map<Address, Holders> semaphores_;
  std::map<std::tuple<Address, u32, TaskNumber>, u64> known_;   // → index in the semaphore's holders
  std::unordered_map<Address, std::vector<Address>> by_object_; // of objects that were looked at
};

} // namespace dnheap
