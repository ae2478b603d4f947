// Derives the offsets in a Thread of its stack bounds and its thread statics. See derivation.h.
#pragma once
#include "runtime/layout/derivation.h"
#include "runtime/thread_data.h"

namespace dnheap {

// `threads`: all that the runtime lists.
void derive_thread_parts(Derivation &derivation, std::vector<ThreadData> threads);

} // namespace dnheap
