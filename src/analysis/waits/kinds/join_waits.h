// JoinWaits: which thread's end a thread waits for. Unless .NET's own wait subsystem records it, only Thread.Join
// itself shows that: its frame, or the Frame that the runtime leaves for it, refers to the Thread. A few look-ups for
// each thread. Not for several threads at once.
#pragma once
#include "analysis/threads/thread_text.h"
#include "runtime/runtime.h"

#include <map>
#include <span>

namespace dnheap {

// A result of waits_for().
inline constexpr const char *wait_for_end = "the end of a thread";

struct JoinWait {
  Address object = 0;            // the Thread whose end is waited for
  u32 joined = 0;                // its index in the list of threads
  bool is_by_stack = false;      // the reference is a word that may be left over
  bool is_limit_unknown = false; // the wait may have a time limit
};

// True if the thread is in the Thread.Join that has no time limit.
bool is_endless_join(const Runtime &runtime, const WalkedStack &stack);

class JoinWaits {
public:
  // `threads` need not outlive this object.
  JoinWaits(const Runtime &runtime, std::span<const ThreadData> threads);

  // Returns nullopt if the thread waits for something else, or if it is not clear for which thread. `index`: its index
  // in the list; `wait`: what its methods show.
  std::optional<JoinWait> find(u32 index, const WalkedStack &stack, const WaitText &wait) const;

private:
  const Runtime &runtime_;
  std::map<Address, u32> threads_; // managed Thread → index in the list
};

} // namespace dnheap
