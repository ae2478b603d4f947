// WaitTexts: describes each thread's wait in words. Sources: the innermost methods on its stack; the runtime's records
// if these methods show nothing (.NET 8 and 9); waits for static constructors. Walks each stack once. Not for several
// threads at once.
#pragma once
#include "analysis/threads/thread_places.h"
#include "analysis/threads/thread_text.h"
#include "snapshot/snapshot.h"

#include <span>

namespace dnheap {

inline constexpr const char *wait_for_constructor = "a static constructor";

// Returns the texts by thread; empty for threads that have ended. Adds each stack to `places`; null: the caller does
// not need them.
std::vector<WaitText> find_wait_texts(const Snapshot &snapshot, std::span<const ThreadData> threads,
                                      ThreadPlaces *places);

} // namespace dnheap
