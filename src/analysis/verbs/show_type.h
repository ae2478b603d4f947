// What `show` says of a MethodTable's address: which type it is, and how much of the heap its objects take. Walks the
// heap unless that was done. For show.cc.
#pragma once
#include "analysis/verb.h"

namespace dnheap {

// `method_table`: as is_method_table() says.
report::Answer show_type(Snapshot &snapshot, const Question &question, Address method_table);

} // namespace dnheap
