// LostSignals: events that threads wait for without a time limit, although nothing but these threads leads to them any
// more, so that nobody can signal them: a CountdownEvent, a Barrier, an event. A participant that ended with an
// exception is the usual reason. Marks the heap once if a thread waits for such an object, else reads nothing. Not for
// several threads at once.
#pragma once
#include "analysis/waits/thread_waits.h"

#include <span>
#include <string>
#include <vector>

namespace dnheap {

struct LostSignal {
  Address event = 0;
  std::string missing;      // "1 of 10 signals is missing"; empty: it is an event, which has one signal only
  std::vector<u32> threads; // that wait, as `locks` numbers them, ascending
};

// Returns those with most waiters first. Empty if part of the roots is unknown, since somebody may lead to each event
// then. Leaves out a main thread that waits for an event that is neither a CountdownEvent nor a Barrier: programs park
// their main thread in this way.
std::vector<LostSignal> find_lost_signals(const Snapshot &snapshot, const LockSet &locks,
                                          std::span<const ThreadWait> waits);

} // namespace dnheap
