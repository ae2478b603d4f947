#include "support/malloc_writer.h"

#include <algorithm>

namespace dnheap::test {

namespace {

constexpr u64 bins_at = 112, top_at = 96, next_at = 2160, state_size = 2200; // of struct malloc_state
constexpr u64 info_size = 48;                                                // of struct heap_info
constexpr u64 parameters_at = 0x1000;                                        // of struct malloc_par, in libc's data

} // namespace

MallocWriter::MallocWriter(u32 heaps_of_other_arena) : libc_data({}, data) {
  libc_data.reserve(2 * page);
  main_arena = data + 0xc0;
  write_bins(libc_data, main_arena);
  heaps.emplace_back(Format{}, sbrk_base);
  starts_.push_back(sbrk_base);
  sums.resize(1 + heaps_of_other_arena);
  for (u32 i = 0; i < heaps_of_other_arena; ++i) {
    Block &heap = heaps.emplace_back(Format{}, other_heaps + i * heap_alignment);
    heap.reserve(info_size);
    if (i == 0) {
      other_arena = heap.end();
      heap.reserve(state_size);
      write_bins(heap, other_arena);
    }
    heap.put(heap.address(), other_arena, 8);
    heap.put(heap.address() + 8, i ? heap.address() - heap_alignment : 0, 8);
    starts_.push_back(heap.reserve(0, 16));
    sums[1 + i].in_use = heap.end() - heap.address();
  }
  libc_data.put(main_arena + next_at, other_arena ? other_arena : main_arena, 8);
  if (other_arena)
    heaps[1].put(other_arena + next_at, main_arena, 8);
}

void MallocWriter::write_bins(Block &to, Address arena) {
  for (Address at = arena + bins_at; at < arena + bins_at + 127 * 16; at += 16) {
    to.put(at, at - 16, 8);
    to.put(at + 8, at - 16, 8);
  }
}

Address MallocWriter::chunk(u32 heap, u64 size, Use use) {
  Block &block = heaps[heap];
  const Address at = block.reserve(size, 16);
  block.put(at + 8, size | (heap ? 4 : 0), 8); // who comes next sets its own bit of this one
  MallocSums &sum = sums[heap];
  switch (use) {
  case Use::used:
    sum.in_use += size;
    ++sum.chunks;
    break;
  case Use::free: sum.free += size; break;
  case Use::cached:
    block.put(at + 16, (at + 16) >> 12, 8); // the last of its list
    block.put(at + 24, tcache_key, 8);
    sum.cached += size;
    break;
  case Use::fast: {
    Address &last = fast_[{heap ? 1 : 0, size}];
    block.put(at + 16, last ^ (at + 16) >> 12, 8);
    last = at;
    sum.cached += size;
    break;
  }
  }
  is_used_[at + size] = use != Use::free; // what the next chunk says of this one
  return at;
}

void MallocWriter::large_block(Address at, u64 size) {
  Block &block = blocks.emplace_back(Format{}, at);
  block.reserve(size);
  block.put(at + 8, size | 2, 8);
  large_bytes_ += size;
}

void MallocWriter::finish(u32 heap) {
  Block &block = heaps[heap];
  const bool is_last = heap == 0 || heap + 1 == heaps.size();
  if (is_last) {
    const Address top = block.end();
    const Address end = align_up(top + top_size, page);
    block.reserve(end - top);
    block.put(top + 8, end - top, 8);
    sums[heap].top = end - top;
    Block &arena = block_of_arena(heap);
    arena.put(arena_of(heap) + top_at, top, 8);
  } else { // full: it ends with what keeps chunks from being merged beyond it
    const Address fence = block.end(), end = align_up(fence + 32, page);
    const u64 filler = end - 32 - fence;
    if (filler)
      chunk(heap, filler, Use::used);
    const Address at = block.reserve(32);
    block.put(at + 8, 16, 8);
    block.put(at + 24, 0, 8);
    is_used_[at + 16] = true;
    sums[heap].in_use += 32;
  }
  if (heap) {
    block.put(block.address() + 16, block.end() - block.address(), 8);
    block.put(block.address() + 24, block.end() - block.address() + page, 8);
  }
  for (auto [at, used] : is_used_)
    if (at >= block.address() && at < block.end() && used) {
      const u64 word = load<u64>(block.bytes().data() + (at + 8 - block.address()), ByteOrder::little);
      block.put(at + 8, word | 1, 8);
    }
  // The first chunk follows nothing that is free.
  const Address first = starts_[heap];
  const u64 head = load<u64>(block.bytes().data() + (first + 8 - block.address()), ByteOrder::little);
  block.put(first + 8, head | 1, 8);
}

std::unique_ptr<Target> MallocWriter::target(bool has_libc_data) {
  if (!finished_) {
    finished_ = true;
    for (u32 i = 0; i < heaps.size(); ++i)
      finish(i);
    for (auto [key, last] : fast_)
      block_of_arena(key.first).put((key.first ? other_arena : main_arena) + 16 + 8 * (key.second / 16 - 2), last, 8);
    const Address parameters = data + parameters_at; // n_mmaps, n_mmaps_max, max_n_mmaps, no_dyn_threshold, sums
    libc_data.put(parameters, blocks.size(), 4);
    libc_data.put(parameters + 4, 65536, 4);
    libc_data.put(parameters + 16, large_bytes_, 8);
    libc_data.put(parameters + 24, large_bytes_, 8);
    libc_data.put(parameters + 32, sbrk_base, 8);
  }
  auto target = std::make_unique<Target>();
  target->os = OperatingSystem::linux_os;
  target->architecture = Architecture::x64;
  target->container = "elf-core";
  std::vector<Range> ranges;
  auto add = [&](const Block &block) {
    ranges.push_back(block.range());
    target->mappings.push_back({block.address(), block.end(), block.end()});
  };
  for (const Block &heap : heaps)
    add(heap);
  for (const Block &block : blocks)
    add(block);
  if (has_libc_data)
    add(libc_data);
  std::sort(target->mappings.begin(), target->mappings.end(),
            [](const Mapping &a, const Mapping &b) { return a.start < b.start; });
  Module module;
  module.path = "/lib/libc.so.6";
  module.base = libc;
  module.extents = {{libc, libc + page, 0}, {data, libc_data.end(), page}};
  target->modules.push_back(module);
  target->memory = Memory({}, std::move(ranges));
  return target;
}

} // namespace dnheap::test
