// The exception clauses of a method that was compiled at run time, of which only one thing is asked: which offsets
// begin a filter's funclet. Any thread. Format: dotnet/runtime src/coreclr/inc/corjit.h (CORINFO_EH_CLAUSE_FLAGS),
// vm/codeman.h.
#pragma once
#include "contract/descriptor.h"

#include <optional>

namespace dnheap {

// Where a clause has what is asked; what the target does not publish is as in .NET 8 to 10.
struct EhClauseLayout {
  u64 size = 32, flags = 0, filter = 24; // where a filter begins stands in place of the type that is caught
};
EhClauseLayout eh_clause_layout(const ContractDescriptor &descriptor);

// Does one of the filters begin at that offset of the method? Nullopt: the dump lacks the clauses.
std::optional<bool> has_filter_at(const Memory &memory, const EhClauseLayout &layout, Address clauses, u64 count,
                                  u64 offset);

} // namespace dnheap
