// Finds the roots of a .gcdump: nodes without address, below the root node, group them by kind and name.
#pragma once
#include "base/watch.h"
#include "dump/records/gcdump_file.h"

namespace dnheap {

// Fills the record's roots and their names. dotnet-gcdump names a static field by its own type, not by the one that
// declares it: such names get the type behind them. O(groups and their children).
void find_gcdump_roots(const GcDumpFile &file, const Watch &watch, HeapRecord &record);

} // namespace dnheap
