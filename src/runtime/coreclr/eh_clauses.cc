#include "runtime/coreclr/eh_clauses.h"

namespace dnheap {

namespace {

constexpr u64 clause_size = 32, filter_offset = 24; // of a clause; its flags are the first word
constexpr u32 filter_flag = 1;
constexpr u64 max_clauses = 1 << 16;

} // namespace

std::optional<bool> has_filter_at(const Memory &memory, Address clauses, u64 count, u64 offset) {
  if (count > max_clauses)
    return std::nullopt;
  for (u64 i = 0; i < count; ++i) {
    const std::optional<u32> flags = memory.try_load<u32>(clauses + i * clause_size),
                             filter = memory.try_load<u32>(clauses + i * clause_size + filter_offset);
    if (!flags || !filter)
      return std::nullopt;
    if ((*flags & filter_flag) && *filter == offset)
      return true;
  }
  return false;
}

} // namespace dnheap
