// NativeBlocks: the blocks that malloc has handed out and that were not freed, by address, and which of them contains
// an address. 16 bytes per block, and a walk over malloc's heaps. Once built immutable; any thread.
#pragma once
#include "analysis/process/account_map.h"

#include <algorithm>

namespace dnheap {

class NativeBlocks {
public:
  static constexpr u32 none = ~u32{0};

  // `map`: the account of the same target.
  NativeBlocks(const Target &target, const AccountMap &map);
  // `blocks`: in any order. `tail`: bytes at the end of each for is_in_tail().
  explicit NativeBlocks(std::vector<MallocBlock> blocks, u64 tail = 0);

  u32 size() const { return static_cast<u32>(blocks_.size()); }
  const MallocBlock &operator[](u32 block) const { return blocks_[block]; }
  // True if there are more blocks than are listed.
  bool is_cut() const { return is_cut_; }
  // True if the address lies in the last word of one of glibc's blocks: there the next chunk begins, and if that is
  // free, malloc's own records have this address.
  bool is_in_tail(u32 block, Address address) const { return blocks_[block].end - address <= tail_; }
  // Returns the block that contains the address, or none. Most words of memory are no pointers to blocks: these
  // cost a few instructions and one load from a table that stays in the processor's cache.
  u32 find(Address address) const {
    if (address - lowest_ >= span_ || !(pages_[slot_of(address)] >> (address >> page_shift & 63) & 1))
      return none;
    return search(address);
  }

private:
  static constexpr unsigned page_shift = 16, slots_shift = 14; // 64 pages of 64 KiB share a slot
  static u64 slot_of(Address address) {
    return (address >> (page_shift + 6)) * 0x9e3779b97f4a7c15 >> (64 - slots_shift);
  }
  void arrange();
  u32 search(Address address) const;

  std::vector<MallocBlock> blocks_;
  std::vector<u64> pages_; // a bit per page that has a part of a block; other pages may have the same bit
  u64 tail_ = 0;
  Address lowest_ = 0;
  u64 span_ = 0;
  bool is_cut_ = false;
};

} // namespace dnheap
