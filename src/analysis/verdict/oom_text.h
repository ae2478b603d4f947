// The GC's record of the last time that it could not get memory, in words, with the limit of the heap's size if the
// process was started with one.
#pragma once
#include "analysis/shapes/gc_memory_info.h"
#include "analysis/shapes/gc_settings.h"
#include "runtime/facts/gc_data.h"

namespace dnheap {

// Returns "never" if that did not happen. `limit`: the setting; `info`: the limit that the GC reported. Null: unknown.
std::string oom_text(const GCOomData &oom, const GCSetting *limit, const GCMemoryInfo *info = nullptr);
// Returns the text of the first GC heap that has a record; empty: no heap has one, or the record cannot be read. Costs
// a look at the settings, and if these have no limit, a walk of gen0 and gen1. Throws Interrupted.
std::string last_oom_text(const Snapshot &snapshot);

// True if one of the exceptions, named by their types, says that memory ran out.
bool is_out_of_memory(std::string_view exceptions);

} // namespace dnheap
