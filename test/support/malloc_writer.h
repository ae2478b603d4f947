// MallocWriter: what malloc of glibc 2.36 leaves in a process: libc's data with the main arena, its heap, and another
// arena with heaps at multiples of 64 MiB. Chunks are added one by one; what a reader must find is summed up.
#pragma once
#include "support/block.h"
#include "target/target.h"

#include <map>
#include <memory>

namespace dnheap::test {

struct MallocSums {
  u64 in_use = 0, cached = 0, free = 0, top = 0, chunks = 0;
};

class MallocWriter {
public:
  static constexpr Address libc = 0x7f0000000000, data = 0x7f0000200000, sbrk_base = 0x555500000000;
  static constexpr u64 heap_alignment = 64 << 20, page = 4096, top_size = 0x1230;
  static constexpr Address other_heaps = 0x7e0000000000; // multiples of heap_alignment
  static constexpr u64 tcache_key = 0x123456789abcdef1;

  explicit MallocWriter(u32 heaps_of_other_arena = 0);

  enum class Use : u8 { used, free, cached, fast };
  // Behind what was added before, to the main heap (0) or one of the others.
  Address chunk(u32 heap, u64 size, Use use);
  // A block mapped by itself.
  void large_block(Address at, u64 size);

  std::unique_ptr<Target> target(bool has_libc_data = true);

  std::vector<MallocSums> sums; // by heap
  Block libc_data;
  std::vector<Block> heaps;
  std::vector<Block> blocks;
  Address main_arena = 0, other_arena = 0;

private:
  void write_bins(Block &to, Address arena);
  void finish(u32 heap);
  Address arena_of(u32 heap) const { return heap ? other_arena : main_arena; }
  Block &block_of_arena(u32 heap) { return heap ? heaps[1] : libc_data; }

  std::vector<Address> starts_;                 // first chunk of each heap
  std::map<Address, bool> is_used_;             // of chunks
  std::map<std::pair<u32, u64>, Address> fast_; // last chunk of a list: arena, size
  u64 large_bytes_ = 0;
  bool finished_ = false;
};

} // namespace dnheap::test
