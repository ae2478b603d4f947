// The exception clauses of a method, of which only one thing is asked: which offsets begin a filter's funclet. Two
// forms: that of code compiled at run time and that of ReadyToRun images. Any thread.
// Format: dotnet/runtime src/coreclr/inc/corjit.h (CORINFO_EH_CLAUSE_FLAGS), vm/codeman.h.
#pragma once
#include "target/memory.h"

#include <optional>

namespace dnheap {

struct EHClauseLayout {
  u64 size, filter_offset; // the flags are the first word
};
constexpr EHClauseLayout jit_eh_clauses = {32, 24}, ready_to_run_eh_clauses = {24, 20};

// Does one of the filters begin at that offset of the method? Nullopt: the dump lacks the clauses.
std::optional<bool> has_filter_at(const Memory &memory, Address clauses, u64 count, const EHClauseLayout &layout,
                                  u64 offset);

} // namespace dnheap
