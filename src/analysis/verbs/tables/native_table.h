// The tables of native memory in `account`: malloc's blocks by owner, and by size.
#pragma once
#include "analysis/native/native_owners.h"
#include "report/answer.h"

namespace dnheap {

// One row for each owner: "native".
report::Table native_table(const NativeOwners &native, bool in_text);
// One row for each size of each owner: "malloc".
report::Table sizes_table(const NativeOwners &native, bool in_text);

} // namespace dnheap
