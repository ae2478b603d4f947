// SemaphoreHolders: who may have taken a semaphore of which no permit is left. A SemaphoreSlim records no owner; but
// whoever is to give a permit back needs a reference to it: a frame of a thread, or a variable of an asynchronous
// method that waits for something, has one, or has one to an object that does. Nothing is looked at where no semaphore
// has waiters and no permit; else all roots, and the references of each asynchronous method that waits. One thread.
#pragma once
#include "analysis/inspect/lock_objects.h"
#include "analysis/inspect/tasks.h"
#include "objects/references.h"

#include <unordered_map>

namespace dnheap {

// By what it is told who holds something; the surer first.
enum class Grounds : u8 {
  runtime,             // notes of the runtime, fields of objects
  stack,               // a word on a stack, which may be left over
  reference,           // a reference that a method has
  reference_by_object, // one that an object has which a method refers to
};
const char *name_of(Grounds grounds);

struct SemaphoreHolder {
  std::optional<u32> thread; // index in LockSet::threads
  TaskNumber task = no_task; // else that of an asynchronous method
  Grounds grounds = Grounds::reference;
  Address through = 0; // the object between
  std::string method;  // of a thread: whose frame it is; empty: cannot be told
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
  void add(Address semaphore, SemaphoreHolder holder);
  bool is_waiting_method(TaskNumber task) const {
    return tasks_.is_pending(task) && tasks_.state(task).value_or(-1) >= 0;
  }
  // At most so many; of an object that is none, nothing.
  std::vector<Address> references_of(Address object);
  const std::vector<Address> &semaphores_in(Address object);

  const Tasks &tasks_;
  FieldReader fields_;
  std::optional<ReferenceReader> reader_;
  std::map<Address, Holders> semaphores_;
  std::map<std::tuple<Address, u32, TaskNumber>, u64> known_;   // → index in the semaphore's holders
  std::unordered_map<Address, std::vector<Address>> by_object_; // of objects that were looked at
};

} // namespace dnheap
