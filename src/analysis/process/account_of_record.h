// The account of a listing of a heap, which knows nothing of the process's other memory.
#pragma once
#include "analysis/process/account_map.h"

namespace dnheap {

// `live`: as for make_account_map(). What lies between listed objects is free, or was dead; it counts as free.
AccountMap account_of_record(const Snapshot &snapshot, const std::optional<HeapTally> &live);

} // namespace dnheap
