// LostSignals: objects that threads wait for without a time limit, although no thread that can go on, and nothing else
// that is alive, leads to them any more, so that nobody can signal them: a CountdownEvent, a Barrier, an event, a
// semaphore, a pulse, an item or a place in a BlockingCollection. A thread that waits for such threads (for their end,
// for a lock of theirs, for their tasks) cannot go on either. A participant that ended with an exception is the usual
// reason. Marks the heap once if a thread waits for such an object, else reads nothing. Not for several threads at
// once.
#pragma once
#include "analysis/waits/thread_waits.h"

#include <span>
#include <string>
#include <vector>

namespace dnheap {

struct LostSignal {
  Address event = 0; // for a BlockingCollection's: the semaphore that it keeps for its waiters
  WaitKind kind = WaitKind::event;
  std::string missing;      // "1 of 10 signals is missing"; empty: it is an object that has one signal only
  std::vector<u32> threads; // that wait, as `locks` numbers them, ascending
  // Threads that wait for other things lead to it, too, but go on only after these.
  bool has_followers = false;
};

// Returns those with most waiters first. Empty if part of the roots is unknown, since somebody may lead to each event
// then. Leaves out a main thread that waits alone for an event, a semaphore or a pulse: programs park their main thread
// in this way; and workers that wait for work, for a pulse or an item, unless somebody waits for them.
std::vector<LostSignal> find_lost_signals(const Snapshot &snapshot, const LockSet &locks,
                                          std::span<const ThreadWait> waits);

} // namespace dnheap
