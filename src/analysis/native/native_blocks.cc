#include "analysis/native/native_blocks.h"

namespace dnheap {

namespace {

constexpr u64 most_blocks = 1 << 26; // 1 GiB of records

}

NativeBlocks::NativeBlocks(const Target &target, const AccountMap &map) {
  MallocArenas malloc = find_malloc_arenas(target, most_blocks);
  blocks_ = std::move(malloc.in_use);
  is_cut_ = blocks_.size() == most_blocks;
  tail_ = malloc.lists_blocks ? 0 : sizeof(u64);
  if (!malloc.lists_blocks)
    for (const MallocBlock &block : map.malloc.blocks)
      blocks_.push_back({block.start + large_block_header, block.end});
  arrange();
}

NativeBlocks::NativeBlocks(std::vector<MallocBlock> blocks, u64 tail) : blocks_(std::move(blocks)), tail_(tail) {
  arrange();
}

void NativeBlocks::arrange() {
  std::sort(blocks_.begin(), blocks_.end(),
            [](const MallocBlock &a, const MallocBlock &b) { return a.start < b.start; });
  Address end = 0;
  std::erase_if(blocks_, [&](const MallocBlock &block) { // in a damaged heap blocks may overlap
    if (block.start < end || block.end <= block.start)
      return true;
    end = block.end;
    return false;
  });
  pages_.assign(u64{1} << slots_shift, 0);
  if (blocks_.empty())
    return;
  lowest_ = blocks_.front().start;
  span_ = blocks_.back().end - lowest_;
  for (const MallocBlock &block : blocks_) {
    const u64 first = block.start >> page_shift, last = (block.end - 1) >> page_shift;
    for (u64 page = first; page <= last; ++page)
      pages_[slot_of(page << page_shift)] |= u64{1} << (page & 63);
  }
}

u32 NativeBlocks::search(Address address) const {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), address,
                                      [](Address at, const MallocBlock &block) { return at < block.start; });
  if (after == blocks_.begin() || address >= std::prev(after)->end)
    return none;
  return static_cast<u32>(after - blocks_.begin() - 1);
}

} // namespace dnheap
