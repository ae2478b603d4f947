// The roots that a listing of a heap names (target/heap_record.h).
#pragma once
#include "objects/roots.h"

namespace dnheap {

// Adds the record's roots, their names and threads, and the references that no field holds.
void add_recorded_roots(const HeapRecord &record, RootSet &to);

} // namespace dnheap
