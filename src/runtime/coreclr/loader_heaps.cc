#include "runtime/coreclr/loader_heaps.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 loader_page = 4096;
constexpr u64 most_blocks = 1 << 20; // blocks followed in total

class LoaderHeapFinder {
public:
  explicit LoaderHeapFinder(const Memory &memory) : memory_(memory), p_(memory.format().pointer_size) {}

  void look_from(Address module) {
    constexpr u64 words = 64; // searched words of a Module; one of them points at its LoaderAllocator
    for (u64 i = 0; i < words; ++i)
      look_at(word(module + i * p_));
  }

  // Keeps the blocks of `allocator` if it has the shape of a LoaderAllocator.
  void look_at(Address allocator) {
    if (allocator && looked_at_.insert(allocator).second)
      look_through(allocator);
  }

  std::vector<LoaderHeapBlock> take() { return std::move(blocks_); }

private:
  Address word(Address at) const { return memory_.try_pointer(at).value_or(0); }

  void look_through(Address allocator) {
    constexpr u64 words = 280, least_heaps = 3;
    std::vector<LoaderHeapBlock> found;
    std::unordered_set<Address> heaps, blocks;
    for (u64 i = 0; i < words; ++i) {
      const Address heap = word(allocator + i * p_);
      if (heap && heaps.size() < words && is_heap(heap) && heaps.insert(heap).second)
        add_blocks(allocator, first_block(heap), blocks, found);
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

  // Returns the first block of a heap, whose pointer usually follows the vtable.
  Address first_block(Address heap) const {
    for (u64 at : {p_, u64{0}, 2 * p_})
      if (const Address block = word(heap + at); block && is_block(block) && has_ends(heap + at + p_, block))
        return block;
    return 0;
  }
  bool is_heap(Address heap) const { return first_block(heap) != 0; }

  // Looks for three words in sequence: the ends of the part of the block that was handed out, committed, reserved.
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

  void add_blocks(Address allocator, Address block, std::unordered_set<Address> &seen,
                  std::vector<LoaderHeapBlock> &to) {
    for (; block && is_block(block) && steps_ < most_blocks && seen.insert(block).second; block = word(block), ++steps_)
      to.push_back({word(block + p_), word(block + 2 * p_), allocator});
  }

  const Memory &memory_;
  const u64 p_;
  std::unordered_set<Address> looked_at_;
  u64 steps_ = 0; // from block to block
  std::vector<LoaderHeapBlock> blocks_;
};

// Follows only the published layout.
class PublishedLoaderHeaps {
public:
  PublishedLoaderHeaps(const Memory &memory, const ContractDescriptor &d) : memory_(memory) {
    auto offset = [&](const char *type, const char *field) -> std::optional<u64> {
      const std::optional<i64> found = d.try_offset(type, field);
      return found ? std::optional(static_cast<u64>(*found)) : std::nullopt;
    };
    const auto of_module = offset("Module", "LoaderAllocator"), first = offset("LoaderHeap", "FirstBlock"),
               next = offset("LoaderHeapBlock", "Next"), start = offset("LoaderHeapBlock", "VirtualAddress"),
               size = offset("LoaderHeapBlock", "VirtualSize");
    for (const char *heap : {"HighFrequencyHeap", "LowFrequencyHeap", "StaticsHeap", "ExecutableHeap",
                             "FixupPrecodeHeap", "NewStubPrecodeHeap"})
      if (const auto at = offset("LoaderAllocator", heap))
        heaps_.push_back(*at);
    stubs_ = offset("LoaderAllocator", "VirtualCallStubManager");
    for (const char *heap : {"IndcellHeap", "CacheEntryHeap"})
      if (const auto at = offset("VirtualCallStubManager", heap))
        heaps_of_stubs_.push_back(*at);
    if (of_module && first && next && start && size && !heaps_.empty())
      at_ = Layout{*of_module, *first, *next, *start, *size};
  }

  bool is_published() const { return at_.has_value(); }

  void look_from(Address module) { look_at(word(module + at_->of_module)); }
  void look_at(Address allocator) {
    if (allocator && looked_at_.insert(allocator).second)
      add_allocator(allocator);
  }
  std::vector<LoaderHeapBlock> take() { return std::move(blocks_); }

private:
  struct Layout {
    u64 of_module, first, next, start, size;
  };
  Address word(Address at) const { return memory_.try_pointer(at).value_or(0); }

  void add_allocator(Address allocator) {
    for (u64 at : heaps_)
      add_heap(allocator, word(allocator + at));
    const Address stubs = stubs_ ? word(allocator + *stubs_) : 0;
    for (u64 at : heaps_of_stubs_)
      if (stubs)
        add_heap(allocator, word(stubs + at));
  }
  // The size of a damaged block is ignored.
  void add_heap(Address allocator, Address heap) {
    constexpr u64 largest = u64{4} << 30;
    Address block = heap ? word(heap + at_->first) : 0;
    for (; block && steps_ < most_blocks && seen_.insert(block).second; block = word(block + at_->next), ++steps_)
      if (const u64 start = word(block + at_->start), size = word(block + at_->size); start && size && size <= largest)
        blocks_.push_back({start, size, allocator});
  }

  const Memory &memory_;
  std::optional<Layout> at_;
  std::vector<u64> heaps_, heaps_of_stubs_; // offsets in a LoaderAllocator; in its VirtualCallStubManager
  std::optional<u64> stubs_;
  std::unordered_set<Address> looked_at_, seen_;
  u64 steps_ = 0; // from block to block
  std::vector<LoaderHeapBlock> blocks_;
};

std::vector<LoaderHeapBlock> each_once(std::vector<LoaderHeapBlock> blocks) {
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const LoaderHeapBlock &a, const LoaderHeapBlock &b) { return a.start < b.start; });
  auto same = [](const LoaderHeapBlock &a, const LoaderHeapBlock &b) { return a.start == b.start && a.size == b.size; };
  blocks.erase(std::unique(blocks.begin(), blocks.end(), same), blocks.end());
  return blocks;
}

} // namespace

std::vector<LoaderHeapBlock> find_loader_heaps(const Memory &memory, const ContractDescriptor &descriptor,
                                               std::span<const Address> modules) {
  if (PublishedLoaderHeaps published(memory, descriptor); published.is_published()) {
    for (Address module : modules)
      published.look_from(module);
    return each_once(published.take());
  }
  LoaderHeapFinder finder(memory);
  memory.as_searched([&] {
    for (Address module : modules)
      finder.look_from(module);
  });
  return each_once(finder.take());
}

std::vector<LoaderHeapBlock> loader_heaps_of(const Memory &memory, const ContractDescriptor &descriptor,
                                             std::span<const Address> allocators) {
  if (PublishedLoaderHeaps published(memory, descriptor); published.is_published()) {
    for (Address allocator : allocators)
      published.look_at(allocator);
    return each_once(published.take());
  }
  LoaderHeapFinder finder(memory);
  memory.as_searched([&] {
    for (Address allocator : allocators)
      finder.look_at(allocator);
  });
  return each_once(finder.take());
}

} // namespace dnheap
