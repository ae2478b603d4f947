// Reads the exception clauses of a method that was compiled at run time, only to find the offsets at which filter
// funclets begin. Any thread. Format: dotnet/runtime src/coreclr/inc/corjit.h (CORINFO_EH_CLAUSE_FLAGS), vm/codeman.h.
#pragma once
#include "contract/descriptor.h"

#include <optional>

namespace dnheap {

// Offsets in a clause. If the target does not publish one, that of .NET 8 to 10 is used.
struct EhClauseLayout {
  u64 size = 32, flags = 0, filter = 24; // `filter`: start of the filter, in place of the type that is caught
};
EhClauseLayout eh_clause_layout(const ContractDescriptor &descriptor);

// True if one of the filters begins at that offset of the method. Nullopt: the clauses are not in the dump.
std::optional<bool> has_filter_at(const Memory &memory, const EhClauseLayout &layout, Address clauses, u64 count,
                                  u64 offset);

} // namespace dnheap
