// SyncBlock contract, version 1: the table of sync blocks; each entry refers to the object that it belongs to. Spec:
// dotnet/runtime docs/design/datacontracts/{SyncBlock,Object}.md. Construction reads three words, a look-up two. Any
// thread.
#pragma once
#include "contract/descriptor.h"
#include "target/memory.h"

namespace dnheap {

struct SyncTableEntry {
  Address sync_block = 0;
  Address object = 0; // 0: none
  bool is_free = false;
};

class SyncBlock1 {
public:
  SyncBlock1(const Memory &memory, const ContractDescriptor &descriptor);

  // False: the runtime does not publish the place of the table, or the layout of its entries.
  bool has_table() const { return table_ != 0; }
  // The number of entries that were ever used, counted from 1; nullopt: the runtime does not publish it.
  std::optional<u32> count() const { return count_; }
  // Nullopt: not in the dump, or after the last entry that was ever used.
  std::optional<SyncTableEntry> entry(u32 index) const;

private:
  const Memory *memory_;
  Address table_ = 0;
  u64 entry_size_ = 0, sync_block_at_ = 0, object_at_ = 0;
  std::optional<u32> count_;
};

} // namespace dnheap
