// SemaphoreHolders: who may have taken a semaphore of which no permit is left, or a Mutex that is waited for. Neither
// records an owner where a dump has it; but whoever is to give it back needs a reference to it: a frame of a thread, or
// a variable of an asynchronous method that waits for something, has one, or has one to an object that does; or a
// static field of the method's own type, or of one whose object a static field has, has it. Surest is who stands in the
// method that others wait in, behind their wait.
// The semaphores of a BlockingCollection are no locks: nobody gives back what he took. There it is who has the
// collection, and may add an item, or take one. Who waits for the same is not among them, nor who stands where another
// one does. Nothing is looked at where no semaphore has waiters and no permit; else all roots, the references of each
// asynchronous method that waits, all stacks. One thread.
#pragma once
#include "analysis/threads/tasks.h"
#include "analysis/waits/lock_objects.h"
#include "analysis/waits/owner_fields.h"
#include "analysis/waits/semaphore_waits.h"
#include "objects/references.h"
#include "snapshot/method_bodies.h"

#include <functional>
#include <set>
#include <unordered_map>

namespace dnheap {

// By what it is told who holds something; the surer first.
enum class Grounds : u8 {
  runtime,             // notes of the runtime, fields of objects
  stack,               // a word on a stack, which may be left over
  passed_wait,         // it stands in a method in which others wait for it, behind that wait
  reference,           // a reference that a method has
  reference_by_object, // one that an object has which a method refers to
  static_field,        // one in a static field of the type whose method it is, or in the object there
};
const char *name_of(Grounds grounds);
inline bool is_inferred(Grounds grounds) { return grounds >= Grounds::passed_wait; }

struct SemaphoreHolder {
  std::optional<u32> thread; // index in LockSet::threads
  TaskNumber task = no_task; // else that of an asynchronous method
  Grounds grounds = Grounds::reference;
  Address through = 0; // the object between
  std::string method;  // whose frame it is, or whose state machine; empty: cannot be told
  // Its IL calls what takes, or gives back; of a collection what adds, or takes. Nothing: that is not known.
  std::optional<bool> is_user = {};

  bool is_sure() const { return grounds == Grounds::passed_wait; }
  // It refers to it, and its method does nothing with it that a taker does.
  bool is_doubtful() const { return !is_sure() && is_user == false; }
};

class SemaphoreHolders {
public:
  // All must outlive it.
  SemaphoreHolders(Snapshot &snapshot, const LockSet &locks, const Tasks &tasks, const SemaphoreWaits &waits);

  // Semaphores without permits that somebody waits for, by address, with all who may have taken one: those that wait
  // for it themselves are among them.
  using Holders = std::vector<SemaphoreHolder>;
  const std::map<Address, Holders> &semaphores() const { return semaphores_; }
  // Of a collection: a timer or a task that has not begun has it, and may add or take later.
  bool has_outsiders(Address semaphore) const { return outsiders_.contains(semaphore); }

  // The methods that wait for it give it back as well, so it is used as a lock. Nothing: that is not known.
  std::optional<bool> is_given_back(Address semaphore) const;
  // Does somebody run in one of these, for whom `goes_on` holds, or who runs on an unknown thread?
  bool has_runners(Address semaphore, const std::function<bool(u32 thread)> &goes_on) const;
  // "static Shop.Cart._gate", "Shop.Cart._gate": the field that has it, or the collection that does; empty: unknown.
  std::string field_of(Address semaphore) const;

private:
  // Where something stands: the MethodDesc of a method and the IL there, or the type of a state machine and the number
  // of the await.
  struct Place {
    Address method = 0;
    std::optional<i64> position;
  };
  using Places = std::map<Address, i64>; // the last one in each method

  void find_targets(const LockSet &locks);
  void look_at_stacks(const LockSet &locks, const Watch &watch);
  void look_at_waits(const LockSet &locks, const Watch &watch);
  void look_at_threads(const RootSet &roots, const LockSet &locks);
  void look_at_methods(const Watch &watch);
  void look_at_statics();
  void look_behind_waits();
  void look_for_outsiders(Snapshot &snapshot);
  void judge_users();
  void look_at_locks();
  // What a method's IL calls of that; nothing: that is not known.
  struct Deeds {
    std::optional<bool> takes_permits, gives_back, adds, takes;
  };
  Deeds deeds_of(const std::vector<MethodBodies::Call> *calls);
  Place place_of(const StackFrame &frame);
  Place place_of(TaskNumber task);
  bool is_behind(const Places &places, const Place &place) const;
  const std::vector<MethodBodies::Call> *calls_of(TaskNumber task);
  bool is_enumerator(Address object);
  void add(Address semaphore, SemaphoreHolder holder);
  bool is_waiting_method(TaskNumber task) const {
    return tasks_.is_pending(task) && tasks_.state(task).value_or(-1) >= 0;
  }
  // At most so many; of an object that is none, nothing.
  std::vector<Address> references_of(Address object);
  const std::vector<Address> &semaphores_in(Address object);
  bool leads_to(Address object, Address collection, unsigned steps);
  bool may_be_anywhere(Address semaphore) const;
  bool is_collection(Address semaphore) const { return collections_.contains(semaphore); }
  const Tasks &tasks_;
  const SemaphoreWaits &waits_;
  const std::map<Address, CollectionPart> &collections_;
  const Runtime &runtime_;
  const std::vector<Address> *static_arrays_ = nullptr; // in which static fields lie: whoever refers to one has nothing
  FieldReader fields_;
  MethodBodies bodies_;
  std::optional<ReferenceReader> reader_;
  std::optional<OwnerFields> owners_;
  std::map<Address, Holders> semaphores_;
  std::map<Address, Address> targets_;          // the semaphore, or the collection that has it → the semaphore
  std::map<Address, Places> places_;            // by semaphore
  std::map<Address, std::set<u32>> waiting_;    // threads that wait, by semaphore
  std::vector<std::vector<StackFrame>> frames_; // by thread: its methods, innermost first, without references
  std::vector<u64> waiting_frames_;             // by thread: how many of these are about waiting
  std::map<TaskNumber, Address> awaited_;       // methods that await semaphores → these
  std::map<std::tuple<Address, u32, TaskNumber>, u64> known_;   // → index in the semaphore's holders
  std::unordered_map<Address, std::vector<Address>> by_object_; // of objects that were looked at
  std::map<const std::vector<MethodBodies::Call> *, Deeds> deeds_;
  std::set<Address> outsiders_;
  std::map<Address, bool> given_back_;       // by semaphore
  std::map<Address, std::set<u32>> runners_; // threads in a state machine that waits, by semaphore; no_thread: unknown
};

} // namespace dnheap
