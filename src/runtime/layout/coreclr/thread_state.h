// Derives more offsets in a Thread: its state, whether a collection has to wait for it, and its managed object. A few
// words of each Thread per candidate.
#pragma once
#include "runtime/facts/thread_data.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// Needs Thread.Frame derived. `threads`: all that the runtime lists.
void derive_thread_state(Derivation &derivation, std::span<const ThreadData> threads);

} // namespace dnheap
