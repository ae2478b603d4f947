// SyncBlock contract, version 1: the table of sync blocks, in which each entry names the object that it belongs to.
// Spec: dotnet/runtime docs/design/datacontracts/{SyncBlock,Object}.md. Construction reads three words, a look-up two.
// Any thread.
#pragma once
#include "contract/descriptor.h"
#include "target/memory.h"

namespace dnheap {

struct SyncTableEntry {
  Address sync_block = 0;
  Address object = 0; // 0: has none
  bool is_free = false;
};

class SyncBlock1 {
public:
  SyncBlock1(const Memory &memory, const ContractDescriptor &descriptor);

  // False: the runtime does not say where the table lies, or what its entries look like.
  bool has_table() const { return table_ != 0; }
  // How many entries were ever used, the first being number 1; nullopt: the runtime does not say.
  std::optional<u32> count() const { return count_; }
  // Nullopt: not in the dump, or behind the last one that was ever used.
  std::optional<SyncTableEntry> entry(u32 index) const;

private:
  const Memory *memory_;
  Address table_ = 0;
  u64 entry_size_ = 0, sync_block_at_ = 0, object_at_ = 0;
  std::optional<u32> count_;
};

} // namespace dnheap
