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
    for (u64 i = 0; i < searched_words; ++i)
      if (const Address found = word(module + i * p_); found && looked_at_.insert(found).second)
        look_through(found, false);
  }

  // Keeps the blocks of a LoaderAllocator.
  void look_at(Address allocator) {
    if (allocator && known_.insert(allocator).second)
      look_through(allocator, true);
  }

  // Returns the offset in these Modules at which all lead to something with the shape of a LoaderAllocator.
  std::optional<u64> offset_in(std::span<const Address> modules) {
    constexpr u64 enough = 16;
    modules = modules.first(std::min(modules.size(), enough));
    for (u64 i = 0; i < searched_words && !modules.empty(); ++i)
      if (std::ranges::all_of(modules, [&](Address module) { return has_shape(word(module + i * p_)); }))
        return i * p_;
    return std::nullopt;
  }

  std::vector<LoaderHeapBlock> take() { return std::move(blocks_); }

private:
  static constexpr u64 searched_words = 64;   // of a Module; one of them points at its LoaderAllocator
  static constexpr u64 allocator_words = 280; // of a LoaderAllocator: those that point at heaps, and the heaps

  struct Heaps {
    std::vector<Address> all; // each once
    bool is_one_inside = false;
  };

  Address word(Address at) const { return memory_.try_pointer(at).value_or(0); }

  Heaps heaps_of(Address allocator) const {
    Heaps out;
    for (u64 i = 0; i < allocator_words; ++i) {
      const Address heap = word(allocator + i * p_);
      if (!heap || !is_heap(heap) || std::ranges::find(out.all, heap) != out.all.end())
        continue;
      out.all.push_back(heap);
      out.is_one_inside |= heap > allocator && heap - allocator < allocator_words * p_;
    }
    return out;
  }

  // The address of what it reserved at first follows its vtable.
  bool has_reserved(Address allocator) const {
    const Address first = word(allocator + align_up(p_, 8));
    return first && first % loader_page == 0;
  }
  bool has_shape(Address allocator, const Heaps &heaps) const {
    constexpr u64 least_heaps = 3;
    return heaps.all.size() >= least_heaps || (heaps.is_one_inside && has_reserved(allocator));
  }
  bool has_shape(Address allocator) {
    const auto [known, is_new] = shapes_.try_emplace(allocator);
    if (is_new)
      known->second = allocator && has_shape(allocator, heaps_of(allocator));
    return known->second;
  }

  void look_through(Address allocator, bool is_known) {
    const Heaps heaps = heaps_of(allocator);
    if (!is_known && !has_shape(allocator, heaps))
      return;
    auto add_all = [&](std::vector<LoaderHeapBlock> &to) {
      std::unordered_set<Address> seen;
      for (Address heap : heaps.all)
        add_blocks(allocator, first_block(heap), seen, to);
    };
    add_all(blocks_);
    memory_.as_found([&] {
      std::vector<LoaderHeapBlock> again;
      heaps_of(allocator);
      has_reserved(allocator);
      add_all(again);
    });
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
  std::unordered_set<Address> looked_at_, known_;
  std::unordered_map<Address, bool> shapes_;
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
  const std::unordered_map<Address, Address> allocators = find_loader_allocators(memory, descriptor, modules);
  memory.as_searched([&] {
    for (const auto &[module, allocator] : allocators)
      finder.look_at(allocator);
    for (Address module : modules)
      if (allocators.empty())
        finder.look_from(module);
  });
  return each_once(finder.take());
}

std::unordered_map<Address, Address> find_loader_allocators(const Memory &memory, const ContractDescriptor &descriptor,
                                                            std::span<const Address> modules) {
  std::optional<u64> offset;
  if (const std::optional<i64> published = descriptor.try_offset("Module", "LoaderAllocator"))
    offset = static_cast<u64>(*published);
  else
    memory.as_searched([&] { offset = LoaderHeapFinder(memory).offset_in(modules); });
  std::unordered_map<Address, Address> out;
  for (Address module : modules)
    if (const Address allocator = offset ? memory.try_pointer(module + *offset).value_or(0) : 0)
      out.emplace(module, allocator);
  return out;
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
