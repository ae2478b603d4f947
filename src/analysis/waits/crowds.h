// Crowds: semaphores with many waiters and no free permit, whose known holders all seem stuck. A few waiters are usual,
// as with any lock. Many waiters are usual, too, if a program limits its work by the semaphore (its holders end in
// time), or if workers wait for a signal. So a crowd has
// * at least `least_crowd` callers that wait without a time limit. If nobody seems to have it, one is enough where a
// call
//   of the same method has failed, which explains why it was not released, and `least_before_one` where only one permit
//   exists;
// * waiting methods that also release the semaphore, so that it is a lock, not a signal; if that is unknown, a limit of
//   one permit;
// * no possible holder that runs, sleeps, or awaits a timer, a socket, a file or anything else that ends.
// `least_before_one` threads that wait for the only permit are a crowd, too, if it is known which thread has it: as
// before a lock, whatever that thread does.
// Costs some look-ups for each caller and holder. Not for several threads at once.
#pragma once
#include "analysis/waits/thread_waits.h"

namespace dnheap {

// Fewer callers may be requests that came at the same moment and do a short piece of work one after the other. The 32nd
// caller in a queue is late, whatever it waits for.
inline constexpr u64 least_crowd = 32;
// As many as wait for a lock before it is a finding.
inline constexpr u64 least_before_one = 5;

// `has_il`: false for a runtime whose programs have no IL, so that nobody can know whether the methods release it.
// There `least_crowd` callers are a crowd, too.
std::vector<Crowd> find_crowds(const LockSet &locks, Tasks &tasks, const SemaphoreWaits &semaphore_waits,
                               const std::vector<ThreadWait> &waits, const SemaphoreHolders &holders,
                               const std::map<Address, std::vector<SemaphoreHolder>> &may_have_taken,
                               bool has_il = true);

} // namespace dnheap
