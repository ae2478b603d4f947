#include "runtime/coreclr/loader_heaps.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 loader_page = 4096;
constexpr u64 most_blocks = 1 << 20; // that are followed, for all

class LoaderHeapFinder {
public:
  explicit LoaderHeapFinder(const Memory &memory) : memory_(memory), p_(memory.format().pointer_size) {}

  void look_from(Address module) {
    constexpr u64 words = 64; // of a Module, among which its LoaderAllocator is
    for (u64 i = 0; i < words; ++i)
      if (const Address allocator = word(module + i * p_); allocator && looked_at_.insert(allocator).second)
        look_at(allocator);
  }

  std::vector<LoaderHeapBlock> take() {
    std::sort(blocks_.begin(), blocks_.end(),
              [](const LoaderHeapBlock &a, const LoaderHeapBlock &b) { return a.start < b.start; });
    blocks_.erase(std::unique(blocks_.begin(), blocks_.end()), blocks_.end());
    return std::move(blocks_);
  }

private:
  Address word(Address at) const { return memory_.try_pointer(at).value_or(0); }

  // If it has the shape of a LoaderAllocator, its blocks are kept.
  void look_at(Address allocator) {
    constexpr u64 words = 280, least_heaps = 3;
    std::vector<LoaderHeapBlock> found;
    std::unordered_set<Address> heaps, blocks;
    for (u64 i = 0; i < words; ++i) {
      const Address heap = word(allocator + i * p_);
      if (heap && heaps.size() < words && is_heap(heap) && heaps.insert(heap).second)
        add_blocks(first_block(heap), blocks, found);
    }
    if (heaps.size() >= least_heaps)
      blocks_.insert(blocks_.end(), found.begin(), found.end());
  }

  // LoaderHeapBlock: {next, address, size, release}.
  bool is_block(Address block) const {
    const Address start = word(block + p_);
    const u64 size = word(block + 2 * p_);
    const std::optional<u32> release = memory_.try_load<u32>(block + 3 * p_);
    return start && start % loader_page == 0 && size && size % loader_page == 0 && size < u64{4} << 30 && release &&
           *release <= 1;
  }

  // Where a heap has its first block: behind its vtable, as a rule.
  Address first_block(Address heap) const {
    for (u64 at : {p_, u64{0}, 2 * p_})
      if (const Address block = word(heap + at); block && is_block(block) && has_ends(heap + at + p_, block))
        return block;
    return 0;
  }
  bool is_heap(Address heap) const { return first_block(heap) != 0; }

  // Three words, one after another: up to where the block was handed out, committed, reserved.
  bool has_ends(Address at, Address block) const {
    constexpr u64 looked_at = 8;
    const Address start = word(block + p_), end = start + word(block + 2 * p_);
    for (u64 i = 0; i < looked_at; ++i, at += p_) {
      const Address handed_out = word(at), committed = word(at + p_), reserved = word(at + 2 * p_);
      if (start <= handed_out && handed_out <= committed && committed <= reserved && reserved <= end)
        return true;
    }
    return false;
  }

  void add_blocks(Address block, std::unordered_set<Address> &seen, std::vector<LoaderHeapBlock> &to) {
    for (; block && is_block(block) && steps_ < most_blocks && seen.insert(block).second; block = word(block), ++steps_)
      to.push_back({word(block + p_), word(block + 2 * p_)});
  }

  const Memory &memory_;
  const u64 p_;
  std::unordered_set<Address> looked_at_;
  u64 steps_ = 0; // from block to block
  std::vector<LoaderHeapBlock> blocks_;
};

} // namespace

std::vector<LoaderHeapBlock> find_loader_heaps(const Memory &memory, std::span<const Address> modules) {
  LoaderHeapFinder finder(memory);
  for (Address module : modules)
    finder.look_from(module);
  return finder.take();
}

} // namespace dnheap
