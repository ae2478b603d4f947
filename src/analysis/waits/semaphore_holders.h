// SemaphoreHolders: who may have taken a semaphore that has no free permit, or a Mutex that somebody waits for. Neither
// has an owner recorded in a dump, but whoever is to release it needs a reference to it. A frame of a thread, or a
// variable of a waiting asynchronous method, has that reference, or has a reference to an object that has it. Or the
// reference is in a static field of the method's own type, or in an object of that type to which a static field refers.
// The surest holders are in a method in which others wait, at a place after that wait.
// The semaphores of a BlockingCollection are not locks: nobody gives back what was taken. Their possible holders refer
// to the collection, and may add an item, or take one. Waiters for the same semaphore are not among the holders, nor is
// anybody in a method in which others wait. Reads nothing unless a semaphore has waiters and no permit; then it reads
// all roots, the references of each waiting asynchronous method, and all stacks. Not for several threads at once.
#pragma once
#include "analysis/threads/tasks.h"
#include "analysis/waits/kinds/lock_objects.h"
#include "analysis/waits/kinds/semaphore_waits.h"
#include "analysis/waits/method_uses.h"
#include "analysis/waits/owner_fields.h"
#include "objects/references.h"

#include <functional>
#include <set>
#include <unordered_map>

namespace dnheap {

// How a holder is known; the surer grounds first.
enum class Grounds : u8 {
  runtime,             // records of the runtime, fields of objects
  stack,               // a word on a stack, which may be left over
  passed_wait,         // the holder is in a method in which others wait for the semaphore, after that wait
  reference,           // a method refers to it
  reference_by_object, // a method refers to an object that refers to it
  static_field,        // a static field of the method's type refers to it, or to an object that does
};
const char *name_of(Grounds grounds);
inline bool is_inferred(Grounds grounds) { return grounds >= Grounds::passed_wait; }

struct SemaphoreHolder {
  std::optional<u32> thread; // index in LockSet::threads
  TaskNumber task = no_task; // else the task of an asynchronous method
  Grounds grounds = Grounds::reference;
  Address through = 0; // the object by which it refers to the semaphore; 0: none
  std::string method;  // the method of the frame or of the state machine; empty: unknown
  // True if its IL calls methods that take or release permits; for a collection, methods that add or take items.
  // nullopt: unknown.
  std::optional<bool> is_user = {};

  bool is_sure() const { return grounds == Grounds::passed_wait; }
  // True if it only refers to the semaphore: its method calls nothing that a holder would call.
  bool is_doubtful() const { return !is_sure() && is_user == false; }
};

class SemaphoreHolders {
public:
  // All arguments must outlive this object.
  SemaphoreHolders(const Snapshot &snapshot, const LockSet &locks, const Tasks &tasks, const SemaphoreWaits &waits);

  using Holders = std::vector<SemaphoreHolder>;
  // Returns the semaphores without permits that somebody waits for, by address, each with all who may have taken a
  // permit, including those that wait for it themselves.
  const std::map<Address, Holders> &semaphores() const { return semaphores_; }
  // For a collection: true if a timer, a task that has not begun, or queued work refers to it directly or indirectly,
  // and so may add or take later.
  bool has_outsiders(Address semaphore) const { return outsiders_.contains(semaphore); }

  // True if the methods that wait for it also release it, so that it is used as a lock. Nothing: unknown.
  std::optional<bool> is_given_back(Address semaphore) const;
  // Returns how many calls of the methods that wait for it have failed.
  u64 failed_calls(Address semaphore) const;
  // True if a thread for which `goes_on` is true, or an unknown thread, runs in one of the methods that wait for it; or
  // if a call of such a method no longer waits there, but has not gone on yet.
  bool has_runners(Address semaphore, const std::function<bool(u32 thread)> &goes_on) const;
  // Returns the field that has the semaphore or its collection: "static Shop.Cart._gate", "Shop.Cart._gate"; empty:
  // unknown.
  std::string field_of(Address semaphore) const;

private:
  // A position in code: the MethodDesc of a method and an IL offset, or the type of a state machine and the number of
  // the await.
  struct Place {
    Address method = 0;
    std::optional<i64> position;
  };
  using Places = std::map<Address, i64>; // method → its last position

  void find_targets(const LockSet &locks);
  void look_at_stacks(const LockSet &locks, const Watch &watch);
  void look_at_waits(const LockSet &locks, const Watch &watch);
  void look_at_threads(const RootSet &roots, const LockSet &locks);
  void look_at_methods(const Watch &watch);
  void look_at_statics();
  void look_behind_waits();
  void look_at_passed_waits(const Snapshot &snapshot, const LockSet &locks);
  void look_for_outsiders(const Snapshot &snapshot);
  void judge_users();
  bool waits_at_its_only_wait(const SemaphoreHolder &holder);
  void look_at_locks();
  Place place_of(const StackFrame &frame);
  Place place_of(TaskNumber task);
  bool is_behind(const Places &places, const Place &place) const;
  const std::vector<MethodBodies::Call> *calls_of(TaskNumber task);
  bool is_enumerator(Address object);
  void add(Address semaphore, SemaphoreHolder holder);
  bool is_waiting_method(TaskNumber task) const {
    return tasks_.is_pending(task) && tasks_.state(task).value_or(-1) >= 0;
  }
  // Returns the references of an object; none if it is too large, or not an object.
  std::vector<Address> references_of(Address object);
  const std::vector<Address> &semaphores_in(Address object);
  void look_from_outside(Address object);
  bool is_released(TaskNumber task) const;
  bool may_be_anywhere(Address semaphore) const;
  bool is_collection(Address semaphore) const { return collections_.contains(semaphore); }
  const Tasks &tasks_;
  const SemaphoreWaits &waits_;
  const std::map<Address, CollectionPart> &collections_;
  const Runtime &runtime_;
  const std::vector<Address> *static_arrays_ = nullptr; // arrays of static fields: references to them do not count
  FieldReader fields_;
  MethodBodies bodies_;
  MethodUses uses_;
  std::optional<ReferenceReader> reader_;
  std::optional<OwnerFields> owners_;
  std::map<Address, Holders> semaphores_;
  std::map<Address, Address> targets_;          // the semaphore, or the collection that has it → the semaphore
  std::map<Address, Places> places_;            // by semaphore
  std::map<Address, std::set<u32>> waiting_;    // threads that wait, by semaphore
  std::vector<std::vector<StackFrame>> frames_; // by thread: its methods, innermost first, without references
  std::vector<u64> waiting_frames_;             // by thread: how many of these are about waiting
  std::map<TaskNumber, Address> awaited_;       // task of a method → the semaphore that it awaits
  std::map<std::tuple<Address, u32, TaskNumber>, u64> known_;   // → index in the semaphore's holders
  std::unordered_map<Address, std::vector<Address>> by_object_; // semaphores by object that was looked at
  std::set<Address> outsiders_;
  std::map<Address, bool> given_back_;       // by semaphore
  std::map<Address, std::set<u32>> runners_; // threads in a state machine that waits, by semaphore; no_thread: unknown
};

} // namespace dnheap
