// LockChains: chains of threads of which each waits for what the next one has: a lock, a Mutex, a semaphore that one
// thread has surely taken, the end of a thread, a static constructor, a callback. All of them go on only when the last
// one does. Circles are no chains. A few look-ups for each wait. Not for several threads at once.
#pragma once
#include "analysis/waits/thread_waits.h"
#include "analysis/waits/waits_of_threads.h"

namespace dnheap {

class LockChains {
public:
  // Both must outlive this object.
  LockChains(const Runtime &runtime, const LockSet &locks, const ThreadWaits &waits);

  struct Link {
    u32 thread = 0;
    const ThreadWait *wait = nullptr; // what it waits for, and the thread of the next link has; null: the last link
  };
  // Returns the chain that begins with a thread; one link: it waits for nothing that a thread has. Empty: the chain
  // ends in a circle.
  std::vector<Link> from(u32 thread) const;
  // Returns the longest chain of threads without time limits; empty: no thread waits for another one.
  std::vector<Link> longest() const;
  // Returns what a thread waits for; null: nothing that is known, or several things.
  const ThreadWait *wait_of(u32 thread) const;

private:
  std::optional<u32> next_of(const ThreadWait &wait) const;

  const LockSet &locks_;
  const ThreadWaits &waits_;
  const WaitsOfThreads waits_of_;
  const std::map<Address, u32> thread_objects_; // managed Thread → thread
};

// Returns "thread Loader has that lock", "thread Loader runs that callback": who has what somebody waits for.
std::string link_in_words(WaitKind kind, const std::string &thread);

} // namespace dnheap
