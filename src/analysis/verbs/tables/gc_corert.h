// The data of CoreRT's memory format (NF16) about the GC, for `gc`: the same tables as for other runtimes, as far as
// the format has them. For the files of this folder.
#pragma once
#include "base/notes.h"
#include "report/answer.h"
#include "runtime/corert/gc_nf16.h"
#include "runtime/runtime.h"

namespace dnheap {

std::vector<report::Table> corert_gc_tables(const Runtime &runtime, const GcNf16 &nf16, Notes &problems);

} // namespace dnheap
