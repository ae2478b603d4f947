// The positions of references in a type's objects, from its GCDesc (heap/gcdesc.h): a table of `show`. For the files of
// this folder.
#pragma once
#include "report/table.h"
#include "runtime/runtime.h"

namespace dnheap {

// Empty for a type without references; a note is added if the GCDesc is damaged.
report::Table series_table(const Runtime &runtime, Address method_table);

} // namespace dnheap
