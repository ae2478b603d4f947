// What CoreRT's memory format (NF16) says of the GC, for `gc`: the same tables as of other runtimes, as far as the
// format goes. For the files of this folder.
#pragma once
#include "report/answer.h"
#include "runtime/corert/core_rt.h"

namespace dnheap {

std::vector<report::Table> corert_gc_tables(const CoreRt &runtime, std::vector<std::string> &problems);

} // namespace dnheap
