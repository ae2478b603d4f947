#include "image/function_table.h"

#include "image/pe_image.h"

namespace dnheap {

namespace {

constexpr u64 entry_size = 12; // {begin, end, unwind data}

} // namespace

std::optional<FunctionTable> FunctionTable::at(const Memory &memory, Address base) {
  const std::optional<PeImage> image = PeImage::at(memory, base, true);
  const std::optional<PeBlock> table = image ? image->functions() : std::nullopt;
  if (!table)
    return std::nullopt;
  return FunctionTable(memory, base, table->address, table->size / entry_size);
}

bool FunctionTable::is_complete() const {
  const u64 size = count_ * entry_size;
  return memory_->known_bytes(table_, table_ + size) == size;
}

std::optional<FunctionEntry> FunctionTable::find(Address address) const {
  const u64 relative = address - base_;
  u64 low = 0, high = count_; // the last function that begins at or before the address is below `high`
  while (low < high) {
    const u64 middle = low + (high - low) / 2;
    const std::optional<u32> begin = memory_->try_load<u32>(table_ + middle * entry_size);
    if (!begin)
      return std::nullopt;
    if (*begin <= relative)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return std::nullopt;
  const Address entry = table_ + (low - 1) * entry_size;
  const std::optional<u32> begin = memory_->try_load<u32>(entry), end = memory_->try_load<u32>(entry + 4),
                           info = memory_->try_load<u32>(entry + 8);
  if (!begin || !end || !info || relative >= *end)
    return std::nullopt;
  return FunctionEntry{base_ + *begin, base_ + *end, base_ + *info};
}

} // namespace dnheap
