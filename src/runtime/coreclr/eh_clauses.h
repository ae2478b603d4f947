// The exception clauses of a method that was compiled at run time, of which only one thing is asked: which offsets
// begin a filter's funclet. Any thread. Format: dotnet/runtime src/coreclr/inc/corjit.h (CORINFO_EH_CLAUSE_FLAGS),
// vm/codeman.h.
#pragma once
#include "target/memory.h"

#include <optional>

namespace dnheap {

// Does one of the filters begin at that offset of the method? Nullopt: the dump lacks the clauses.
std::optional<bool> has_filter_at(const Memory &memory, Address clauses, u64 count, u64 offset);

} // namespace dnheap
