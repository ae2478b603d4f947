// PrefixSums: the sum of all numbers before each index, in four bytes per number. Each block of 256 numbers shares one
// eight-byte base; a block that adds up to 4 GiB or more takes eight bytes per number. All threads build it in one
// pass; immutable afterwards, any thread may read it.
#pragma once
#include "base/host/large_array.h"
#include "base/parallel.h"
#include "base/watch.h"

#include <mutex>
#include <vector>

namespace dnheap {

class PrefixSums {
public:
  PrefixSums() = default;
  // Calls value_of(i) once for each i below `count`, twice in blocks with large sums.
  template <class ValueOf> PrefixSums(u64 count, unsigned threads, const Watch &watch, ValueOf value_of);

  // Returns the sum of all numbers before i; for i = count the total.
  u64 operator[](u64 i) const {
    const u64 base = bases_[i / block_size];
    if (base & is_wide) [[unlikely]]
      return wide_[(base & ~is_wide) + i % block_size];
    return base + within_[i];
  }

private:
  static constexpr u64 block_size = 256, blocks_at_once = 256, is_wide = u64{1} << 63;

  LargeArray<u32> within_; // count + 1 entries
  LargeArray<u64> bases_;  // by block: its base; for a wide block, the index in wide_ where its sums begin
  std::vector<u64> wide_;
};

template <class ValueOf>
PrefixSums::PrefixSums(u64 count, unsigned threads, const Watch &watch, ValueOf value_of)
    : within_(count + 1), bases_(count / block_size + 1) {
  std::mutex mutex;
  std::vector<u64> wide; // blocks
  auto in_block = [&](u64 block, auto put) {
    u64 sum = 0;
    for (u64 i = block * block_size; i < std::min(count + 1, (block + 1) * block_size); ++i) {
      put(i, sum);
      sum += i < count ? value_of(i) : 0;
    }
    return sum;
  };
  parallel_for_parts(bases_.size(), blocks_at_once, threads, [&](u64 begin, u64 end, unsigned) {
    watch.check();
    for (u64 block = begin; block < end; ++block) {
      bases_[block] = in_block(block, [&](u64 i, u64 sum) { within_[i] = static_cast<u32>(sum); });
      if (bases_[block] >> 32) {
        std::lock_guard lock(mutex);
        wide.push_back(block);
      }
    }
  });
  u64 sum = 0;
  for (u64 block = 0; block < bases_.size(); ++block)
    sum += std::exchange(bases_[block], sum);
  for (u64 block : wide) {
    const u64 before = std::exchange(bases_[block], wide_.size() | is_wide);
    in_block(block, [&](u64, u64 within) { wide_.push_back(before + within); });
  }
}

} // namespace dnheap
