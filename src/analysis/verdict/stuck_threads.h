// StuckThreads: describes for the verdict who has what threads wait for: locks, semaphores, the thread that runs
// finalizers, the end of the process, and the members of circles, with the places at which they stand. Walks the stacks
// of those that it describes. Not for several threads at once.
#pragma once
#include "analysis/threads/thread_places.h"
#include "analysis/verdict/process_exit.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/deadlock_text.h"
#include "analysis/waits/lock_chains.h"
#include "analysis/waits/lost_signals.h"
#include "snapshot/source_lines.h"

#include <span>
#include <string>
#include <vector>

namespace dnheap {

class StuckThreads {
public:
  // All arguments must outlive this object. `waits`: by thread, as `locks` numbers them.
  StuckThreads(const Runtime &runtime, const LockSet &locks, const ThreadWaits &found, DeadlockText &text,
               std::span<const WaitText> waits, ThreadPlaces &places, SourceLines &lines);
  void add_contended(HangFacts &to);
  // A thread that waits for another one that waits is usual; a third one is not, and neither is a lock that somebody
  // keeps while waiting for a semaphore.
  void add_chain(HangFacts &to);
  void add_of_finalizers(HangFacts &to);
  // Adds what the end of the process waits for, beyond the words for it.
  void add_of_exit(const ProcessExit &exit, HangFacts &to);
  // Describes the first of the events that nobody can signal.
  void add_lost(std::span<const LostSignal> lost, HangFacts &to);
  // Returns who has a semaphore, to begin a sentence: "Thread Loader, which sleeps in Shop.Pricing.Load (Cart.cs:41),";
  // an asynchronous call is named by its method.
  std::string of_semaphore(const SemaphoreHolder &holder, const Tasks &tasks);
  // Returns where the first few members of a circle stand, and the way out that circles of its kind have as a rule;
  // empty if nothing shows it.
  std::string places_in(const DeadlockText::Circle &circle, const Tasks &tasks);

private:
  // "Buyer waits for a lock in Shop.Buy (Shop.cs:41)"; empty: the stack does not show it.
  std::string place_of_member(u32 thread);
  // "Shop.Store.GetAsync (Store.cs:12) waits for a SemaphoreSlim (Shop.Store._gate), which Shop.Store.SaveAsync has
  // taken"; empty for a call that awaits another one, as that one's words follow.
  std::string call_of(const DeadlockText::Circle &circle, u64 i, const Tasks &tasks);
  bool is_waiting(u32 thread) const;
  // Describes the threads behind the first one: "thread Loader has that lock, and sleeps in Shop.Load".
  std::string behind(const std::vector<LockChains::Link> &chain);
  std::string place_of(u32 thread);
  std::string owner_of(const LockObject &lock);
  // Returns the owner; else the known readers, those that do not wait for the lock themselves.
  static std::vector<u32> holders_of(const LockObject &lock);
  std::string type_of(const LockObject &lock) const;
  // Returns the wait, if it is known, with the lock's type or the task's method: "a lock (Shop.Account)", "a task
  // (Shop.Cart.Pay)".
  WaitText wait_of(u32 thread);
  std::string field_of(Address semaphore) const;

  const Runtime &runtime_;
  const LockSet &locks_;
  const ThreadWaits &found_;
  DeadlockText &text_;
  const std::span<const WaitText> waits_; // by thread, as `locks` numbers them
  ThreadPlaces &places_;
  SourceLines &lines_;
  const LockChains chains_;
};

} // namespace dnheap
