// What the GC notes of the last time that it could not get memory, in words, with its own limit where the process was
// started with one.
#pragma once
#include "analysis/shapes/gc_settings.h"
#include "runtime/gc_data.h"

namespace dnheap {

// `limit`: null where none is known. "never" where it did not happen.
std::string oom_text(const GCOomData &oom, const GCSetting *limit);
// Of the first of the GC's heaps that notes one; empty: none does, or it cannot be read. Costs a look at the settings.
std::string last_oom_text(Snapshot &snapshot);

} // namespace dnheap
