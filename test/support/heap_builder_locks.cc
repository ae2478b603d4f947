// HeapBuilder, fourth part: sync blocks, and the numbers by which locks name threads.
#include "support/descriptor_writer.h"
#include "support/heap_builder.h"

namespace dnheap::test {

namespace {

constexpr u64 id_word = 2;                      // of a Thread, in pointer-sized words
constexpr u64 table_size = 250, free_entry = 1; // vm/syncblk.cpp: the first table's
constexpr u64 index_at = 4;                     // of the cache's count, behind this many words

} // namespace

u32 HeapBuilder::sync_block(Address object) {
  sync_blocks.push_back(object);
  u32 index = static_cast<u32>(sync_blocks.size());
  if (object)
    poke(object - 4, 0x08000000 | index, 4);
  return index;
}

void HeapBuilder::write_locks() {
  // {SyncBlock, object}; a free one names the next one.
  Address table = native.reserve((table_size + 1) * 2 * p);
  u64 free_list = 0;
  for (u64 i = 0; i < sync_blocks.size(); ++i) {
    Address at = table + (i + 1) * 2 * p;
    native.pointer(at, sync_blocks[i] ? native.reserve(8 * p) : 0);
    native.pointer(at + p, sync_blocks[i] ? sync_blocks[i] : free_list | free_entry);
    if (!sync_blocks[i])
      free_list = 2 * (i + 1);
  }
  for (u64 i = sync_blocks.size() + 1; i <= table_size; ++i)
    for (u64 word : {0, 1})
      native.pointer(table + (2 * i + word) * p, unused_sync_entries);
  set("SyncTable", table);
  // {…, blocks, u32 free block, u32 next index, free list, u32 size, old tables}
  Address cache = native.reserve(16 * p), next = sync_block_count_at(cache);
  native.pointer(next - 4 - p, sync_blocks.empty() ? 0 : table);
  native.word(next - 4, 3);
  native.word(next, sync_blocks.size() + 1);
  native.pointer(next + 4, free_list);
  native.word(next + 4 + p, table_size);
  set("SyncBlockCache", cache);
  // Numbers from 1 on, and the map back: {…, map}.
  Address map = native.reserve((threads.size() + 1) * p);
  for (u64 i = 0; i < threads.size(); ++i) {
    native.word(threads[i].address + id_word * p, i + 1);
    native.pointer(map + (i + 1) * p, threads[i].address);
  }
  set("Dispenser", native.words({threads.size(), 0, 0, map, threads.size() + 1}));
}

// Aligned such that the words behind it are.
Address HeapBuilder::sync_block_count_at(Address cache) const { return cache + index_at * p + p + 4; }

void HeapBuilder::add_locks(DescriptorWriter &to) const {
  to.types["Thread"]["Id"] = static_cast<i64>(id_word * p);
  if (gc.pointers.contains("SyncTableEntries"))
    return; // the test writes its own
  to.pointers["SyncTableEntries"] = variables.at("SyncTable");
  to.types["SyncTableEntry"]["SyncBlock"] = 0;
  to.sizes["SyncTableEntry"] = 2 * p;
  if (shape.net != Net::net11)
    return;
  to.types["SyncTableEntry"]["Object"] = static_cast<i64>(p);
  to.pointers["SyncBlockCache"] = variables.at("SyncBlockCache");
  to.types["SyncBlockCache"]["FreeSyncTableIndex"] = static_cast<i64>(sync_block_count_at(0));
}

} // namespace dnheap::test
