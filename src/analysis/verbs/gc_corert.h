// The data of CoreRT's memory format (NF16) about the GC, for `gc`: the same tables as for other runtimes, as far as
// the format has them. For the files of this folder.
#pragma once
#include "report/answer.h"
#include "runtime/corert/core_rt.h"

namespace dnheap {

std::vector<report::Table> corert_gc_tables(const CoreRt &runtime, std::vector<std::string> &problems);

} // namespace dnheap
