// Derives what a Thread says of its stack and of its thread statics. Needs the thread list derived. See derivation.h.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

void derive_thread_parts(Derivation &derivation);

} // namespace dnheap
