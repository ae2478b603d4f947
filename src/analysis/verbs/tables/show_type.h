// The answer of `show` for a MethodTable's address: the type, and the size of its objects in the heap. Walks the heap
// unless that was done. For show.cc.
#pragma once
#include "analysis/verb.h"

namespace dnheap {

// `method_table`: must pass is_method_table().
report::Answer show_type(const Snapshot &snapshot, const Question &question, Address method_table);

} // namespace dnheap
