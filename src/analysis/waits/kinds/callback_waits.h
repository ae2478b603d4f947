// CallbackWaits: threads that wait for the end of a callback that another thread, or they themselves, run: by disposing
// of a CancellationTokenRegistration, or by a handle or task that Timer.Dispose is to signal. The library notes in
// objects which thread runs the callbacks of a token, and what a timer is to signal; a timer's thread has the timer in
// a frame. Walks the heap, for timers, and all stacks. Not for several threads at once.
#pragma once
#include "analysis/waits/kinds/lock_objects.h"

#include <map>

namespace dnheap {

struct CallbackWaits {
  std::map<u32, u32> by_token;              // waiting thread → thread that runs the token's callbacks
  std::map<u32, Address> tokens;            // waiting thread → the token's callbacks
  std::map<Address, u32> signals_of_timers; // handle or task → thread that runs the timer's callback
};

CallbackWaits find_callback_waits(const Snapshot &snapshot, const LockSet &locks);

// True if a thread runs a timer's callback.
bool runs_timer(const Runtime &runtime, const WalkedStack &stack);

} // namespace dnheap
