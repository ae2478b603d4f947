// Derives the offsets in a Thread of its stack bounds and its thread statics. See derivation.h.
#pragma once
#include "runtime/facts/thread_data.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// `threads`: all that the runtime lists.
void derive_thread_parts(Derivation &derivation, std::vector<ThreadData> threads);

} // namespace dnheap
