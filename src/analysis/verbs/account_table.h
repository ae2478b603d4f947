// The table `account`: all classes of memory that a process has any of. For the verbs that show it.
#pragma once
#include "analysis/process/account_map.h"
#include "report/table.h"

namespace dnheap {

// Whole in data formats; `in_text`: in text, too.
report::Table account_table(const AccountMap &map, bool is_process, bool in_text = true);

// Of all objects that are alive but frozen ones, which are never freed. Walks the heap.
HeapTally tally_of_live(Snapshot &snapshot);

} // namespace dnheap
