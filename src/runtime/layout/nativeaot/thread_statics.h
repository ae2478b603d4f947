// Derives the place of a NativeAOT thread's thread statics, which no target publishes. They lie a few words before the
// bounds of its stack (nativeaot/Runtime/thread.h, RuntimeThreadLocals: m_pThreadLocalStatics,
// m_pInlinedThreadLocalStatics, m_pGCFrameRegistrations, m_pStackLow, m_pStackHigh), and the stack pointers in the dump
// identify the bounds. Reads some dozen words per thread; a value that is not found is recorded as missing, never an
// error.
#pragma once
#include "runtime/facts/thread_data.h"
#include "runtime/layout/derivation.h"

namespace dnheap {

// Enters Thread.ThreadLocalStatics and Thread.InlinedThreadLocalStatics, which are our names. `threads`: those that the
// runtime lists. `size`: the size of a Thread, if known; data after the Thread may have bounds of the stack, too.
void derive_thread_statics(Derivation &derivation, std::span<const ThreadData> threads, std::optional<u64> size);

} // namespace dnheap
