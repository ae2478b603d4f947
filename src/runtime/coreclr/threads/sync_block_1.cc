#include "runtime/coreclr/threads/sync_block_1.h"

#include "runtime/contract_versions.h"
#include "runtime/object_header.h"

namespace dnheap {

SyncBlock1::SyncBlock1(const Memory &memory, const ContractDescriptor &d) : memory_(&memory) {
  std::optional<u64> table = d.try_number("SyncTableEntries");
  std::optional<i64> sync_block = d.try_offset("SyncTableEntry", "SyncBlock"),
                     object = d.try_offset("SyncTableEntry", "Object");
  if (!table || !sync_block || !object || why_not_read(d, "SyncBlock"))
    return;
  table_ = memory.try_pointer(*table).value_or(0);
  entry_size_ = d.find_type("SyncTableEntry")->size.value_or(2 * memory.format().pointer_size);
  sync_block_at_ = static_cast<u64>(*sync_block);
  object_at_ = static_cast<u64>(*object);
  std::optional<u64> cache = d.try_number("SyncBlockCache");
  std::optional<i64> next = d.try_offset("SyncBlockCache", "FreeSyncTableIndex");
  if (!cache || !next)
    return;
  Address at = memory.try_pointer(*cache).value_or(0);
  std::optional<u32> free = at ? memory.try_load<u32>(at + static_cast<u64>(*next)) : std::nullopt;
  if (free && *free > 0 && *free - 1 <= ObjectHeader::index_mask)
    count_ = *free - 1;
}

std::optional<SyncTableEntry> SyncBlock1::entry(u32 index) const {
  if (!table_ || index == 0 || index > count_.value_or(ObjectHeader::index_mask))
    return std::nullopt;
  const Address at = table_ + index * entry_size_;
  std::optional<u64> sync_block = memory_->try_pointer(at + sync_block_at_),
                     object = memory_->try_pointer(at + object_at_);
  if (!sync_block || !object)
    return std::nullopt;
  // A free entry stores the next free index in this word (low bit set).
  if (*object & 1)
    return SyncTableEntry{*sync_block, 0, true};
  return SyncTableEntry{*sync_block, *object, false};
}

} // namespace dnheap
