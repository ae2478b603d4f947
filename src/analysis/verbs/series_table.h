// Where references lie in a type's objects, as its GCDesc has them (heap/gcdesc.h): a table of `show`. For the files of
// this folder.
#pragma once
#include "report/table.h"
#include "runtime/runtime.h"

namespace dnheap {

// Empty for a type without references; a note says so if what describes them is damaged.
report::Table series_table(const Runtime &runtime, Address method_table);

} // namespace dnheap
