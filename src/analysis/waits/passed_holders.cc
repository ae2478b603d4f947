// The part of SemaphoreHolders that goes by the IL of methods that have not returned.
#include "analysis/waits/passed_waits.h"
#include "analysis/waits/semaphore_holders.h"

#include <algorithm>

namespace dnheap {

namespace {

// True if the thread waits for, or has, a lock to which the object refers: a method of that object is on its stack.
bool has_lock_of(PassedWaits &passed, Address object, u32 thread, const LockSet &locks) {
  return std::ranges::any_of(locks.locks, [&](const LockObject &lock) {
    return (lock.owner == thread || std::ranges::find(lock.waiting, thread) != lock.waiting.end()) &&
           passed.has(object, lock.object);
  });
}

} // namespace

// A method of another object of that type may have another semaphore in that field. So the thread has to refer to the
// object or to the semaphore, or to be in the way of a lock of the object, or there is no other such object.
void SemaphoreHolders::look_at_passed_waits(const Snapshot &snapshot, const LockSet &locks) {
  PassedWaits passed(snapshot, bodies_);
  std::map<u32, std::vector<PassedWaits::Passed>> by_thread;
  std::set<std::string> types;
  for (u32 thread = 0; thread < frames_.size(); ++thread)
    for (u64 i = waiting_frames_[thread]; i < frames_[thread].size(); ++i)
      for (PassedWaits::Passed &one : passed.by(frames_[thread][i])) {
        types.insert(one.type);
        by_thread[thread].push_back(std::move(one));
      }
  if (by_thread.empty())
    return;
  const std::map<std::string, std::vector<PassedWaits::Owner>> owners = passed.owners(types);
  auto add_passed = [&](Address semaphore, u32 thread, const std::string &method) {
    if (semaphores_.contains(semaphore) && !is_collection(semaphore) && !waiting_[semaphore].contains(thread))
      add(semaphore, {thread, no_task, Grounds::passed_wait, 0, method});
  };
  for (const auto &[thread, all] : by_thread)
    for (const PassedWaits::Passed &one : all) {
      for (const auto &[semaphore, holders] : semaphores_)
        if (const OwnerFields::Owner *owner = owners_->find(semaphore);
            owner && owner->is_static && owner->text == one.type + "." + one.field)
          add_passed(semaphore, thread, one.method);
      auto of = owners.find(one.type);
      if (of == owners.end())
        continue;
      for (const PassedWaits::Owner &owner : of->second)
        if (const Address semaphore = passed.in_field(owner.object, one.field);
            semaphores_.contains(semaphore) && (owner.is_only_one || known_.contains({semaphore, thread, no_task}) ||
                                                has_lock_of(passed, owner.object, thread, locks))) {
          if (field_of(semaphore).empty())
            owners_->add(owner.object);
          add_passed(semaphore, thread, one.method);
        }
    }
}

} // namespace dnheap
