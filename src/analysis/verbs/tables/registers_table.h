// The table `registers` of `stack`: what a thread's registers hold, and what that leads to. Some µs per register. Not
// for several threads at once.
#pragma once
#include "report/table.h"
#include "runtime/facts/thread_data.h"
#include "snapshot/snapshot.h"

#include <vector>

namespace dnheap {

// Without `values` only registers that lead somewhere have a value: any other word may be data of the program.
report::Table registers_table(const Snapshot &snapshot, const std::vector<ThreadData> &threads, bool values);

} // namespace dnheap
