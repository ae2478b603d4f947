#include "runtime/coreclr/eh_clauses.h"

namespace dnheap {

namespace {

constexpr u32 filter_flag = 1;
constexpr u64 max_clauses = 1 << 16;

} // namespace

std::optional<bool> has_filter_at(const Memory &memory, Address clauses, u64 count, const EHClauseLayout &layout,
                                  u64 offset) {
  if (count > max_clauses)
    return std::nullopt;
  for (u64 i = 0; i < count; ++i) {
    const std::optional<u32> flags = memory.try_load<u32>(clauses + i * layout.size),
                             filter = memory.try_load<u32>(clauses + i * layout.size + layout.filter_offset);
    if (!flags || !filter)
      return std::nullopt;
    if ((*flags & filter_flag) && *filter == offset)
      return true;
  }
  return false;
}

} // namespace dnheap
