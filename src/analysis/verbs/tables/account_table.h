// The table `account`: all classes of memory that a process has any of.
#pragma once
#include "analysis/process/account_map.h"
#include "report/table.h"

namespace dnheap {

// Complete in data formats; `in_text`: also shown in text.
report::Table account_table(const AccountMap &map, bool is_process, bool in_text = true);

// Returns a tally of all live objects except frozen ones, which are never freed. Walks the heap.
HeapTally tally_of_live(const Snapshot &snapshot);

} // namespace dnheap
