// Crowds: semaphores before which many wait, none of whose permits is free, and whose holders, as far as they are
// known, do not go on by themselves. A few callers before a semaphore are as usual as a lock that somebody waits for;
// so are many before one that a program throttles by, as its holders end in time, and workers that wait for a signal.
// So there is a crowd only
// * of `least_crowd` callers or more that wait without a limit of time;
// * where the method that waits gives back, too, so that it is a lock, and no signal; where that is not known, of a
//   semaphore with one permit;
// * where nobody who may have a permit runs, sleeps, or awaits a timer, a socket, a file or anything else that ends.
// Some look-ups for each caller and holder. One thread.
#pragma once
#include "analysis/waits/thread_waits.h"

namespace dnheap {

// Fewer are what the requests of one moment may be, where a short piece of work is done one at a time. The 32nd of a
// queue is late, whatever it is for.
inline constexpr u64 least_crowd = 32;

std::vector<Crowd> find_crowds(const LockSet &locks, Tasks &tasks, const SemaphoreWaits &semaphore_waits,
                               const std::vector<ThreadWait> &waits, const SemaphoreHolders &holders,
                               const std::map<Address, std::vector<SemaphoreHolder>> &may_have_taken);

} // namespace dnheap
