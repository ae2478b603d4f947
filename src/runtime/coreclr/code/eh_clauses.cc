#include "runtime/coreclr/code/eh_clauses.h"

namespace dnheap {

namespace {

constexpr u32 filter_flag = 1;
constexpr u64 max_clauses = 1 << 16;

} // namespace

EhClauseLayout eh_clause_layout(const ContractDescriptor &descriptor) {
  EhClauseLayout out;
  const DataType *type = descriptor.find_type("EEExceptionClause");
  if (!type)
    return out;
  auto offset = [&](const char *field, u64 otherwise) {
    return static_cast<u64>(descriptor.try_offset("EEExceptionClause", field).value_or(static_cast<i64>(otherwise)));
  };
  out.flags = offset("Flags", out.flags);
  out.filter = offset("TypeHandle", out.filter);
  if (type->size && *type->size)
    out.size = *type->size;
  return out;
}

std::optional<bool> has_filter_at(const Memory &memory, const EhClauseLayout &layout, Address clauses, u64 count,
                                  u64 offset) {
  if (count > max_clauses)
    return std::nullopt;
  for (u64 i = 0; i < count; ++i) {
    const Address at = clauses + i * layout.size;
    const std::optional<u32> flags = memory.try_load<u32>(at + layout.flags),
                             filter = memory.try_load<u32>(at + layout.filter);
    if (!flags || !filter)
      return std::nullopt;
    if ((*flags & filter_flag) && *filter == offset)
      return true;
  }
  return false;
}

} // namespace dnheap
