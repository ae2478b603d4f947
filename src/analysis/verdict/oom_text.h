// The GC's record of the last time that it could not get memory, in words, with the limit of the heap's size if the
// process was started with one.
#pragma once
#include "analysis/shapes/gc_settings.h"
#include "runtime/facts/gc_data.h"

namespace dnheap {

// Returns "never" if that did not happen. `limit`: null if none is known.
std::string oom_text(const GCOomData &oom, const GCSetting *limit);
// Returns the text of the first GC heap that has a record; empty: no heap has one, or the record cannot be read. Costs
// a look at the settings.
std::string last_oom_text(const Snapshot &snapshot);

} // namespace dnheap
