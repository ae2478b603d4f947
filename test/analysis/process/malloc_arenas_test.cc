// malloc's arenas and their chunks, against what was written; and what is no sound arena.
#include "analysis/process/malloc_arenas.h"
#include "support/malloc_writer.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap::test {
namespace {

using Use = MallocWriter::Use;

// Returns the blocks in use: what malloc returned for each, and the end of its room.
std::map<Address, Address> add_chunks(MallocWriter &malloc, u64 seed, u32 count) {
  std::map<Address, Address> out;
  std::mt19937_64 random(seed);
  std::vector<bool> last_was_free(malloc.heaps.size());
  for (u32 i = 0; i < count; ++i) {
    const u32 heap = static_cast<u32>(random() % malloc.heaps.size());
    Use use = static_cast<Use>(random() % 4);
    if (use == Use::free && last_was_free[heap])
      use = Use::used; // two free neighbours would be one
    last_was_free[heap] = use == Use::free;
    const u64 size = use == Use::fast ? 32 + 16 * (random() % 7) : 32 + 16 * (random() % 60);
    const Address at = malloc.chunk(heap, size, use);
    if (use == Use::used)
      out[at + 16] = at + size + 8;
  }
  for (u32 heap = 0; heap < malloc.heaps.size(); ++heap) // what lies in front of the top is in use
    if (const Address at = malloc.chunk(heap, 64, Use::used))
      out[at + 16] = at + 64 + 8;
  return out;
}

void expect_sums(const MallocArenas &found, const MallocWriter &malloc, bool has_lists = true) {
  ASSERT_EQ(found.heaps.size(), malloc.heaps.size());
  for (const MallocHeap &heap : found.heaps) {
    u32 which = 0;
    while (malloc.heaps[which].address() != heap.start)
      ASSERT_LT(++which, malloc.heaps.size());
    const MallocSums &sums = malloc.sums[which];
    SCOPED_TRACE("heap " + std::to_string(which));
    EXPECT_TRUE(heap.is_whole);
    EXPECT_EQ(heap.end, malloc.heaps[which].end());
    EXPECT_EQ(heap.free, sums.free);
    EXPECT_EQ(heap.top, sums.top);
    EXPECT_EQ(heap.in_use + heap.cached, sums.in_use + sums.cached);
    EXPECT_EQ(heap.in_use + heap.cached + heap.free + heap.top, heap.end - heap.start);
    if (has_lists) {
      EXPECT_EQ(heap.in_use, sums.in_use);
    }
  }
}

TEST(MallocArenas, AreReadAsTheyWereWritten) {
  for (u32 others : {0, 1, 3})
    for (u64 seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(std::to_string(others) + " other heaps, seed " + std::to_string(seed));
      MallocWriter malloc(others);
      add_chunks(malloc, seed, 400);
      const std::unique_ptr<Target> target = malloc.target();
      const MallocArenas found = find_malloc_arenas(*target);
      EXPECT_EQ(found.problems.texts(), std::vector<std::string>{});
      ASSERT_EQ(found.arenas.size(), others ? 2u : 1u);
      EXPECT_TRUE(found.arenas[0].is_main);
      EXPECT_EQ(found.arenas[0].address, malloc.main_arena);
      expect_sums(found, malloc);
      u64 cached = 0;
      for (const MallocSums &sums : malloc.sums)
        cached += sums.cached;
      EXPECT_GT(cached, 0u);
    }
}

TEST(MallocArenas, BlocksInUseAreListed) {
  for (u64 seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MallocWriter malloc(2);
    const std::map<Address, Address> written = add_chunks(malloc, seed, 400);
    const std::unique_ptr<Target> target = malloc.target();
    std::map<Address, Address> listed;
    const MallocArenas found = find_malloc_arenas(*target, 1 << 20);
    for (const MallocBlock &block : found.in_use)
      listed[block.start] = block.end;
    u64 chunks = 0;
    for (const MallocHeap &heap : found.heaps)
      chunks += heap.chunks;
    EXPECT_EQ(listed.size(), chunks);
    for (const auto &[start, end] : written)
      EXPECT_EQ(listed[start], end) << std::hex << start;
    EXPECT_LE(listed.size(), written.size() + found.heaps.size()); // and what fills a heap up
    EXPECT_EQ(find_malloc_arenas(*target, 5).in_use.size(), 5u);
    EXPECT_EQ(find_malloc_arenas(*target).in_use.size(), 0u);
  }
}

// A dump that holds only heaps: the arenas are found by their shape. Lists of small chunks are then not known of the
// main one.
TEST(MallocArenas, AreFoundWithoutLibcsData) {
  MallocWriter malloc(2);
  malloc.chunk(0, 0x290, Use::used);
  add_chunks(malloc, 7, 600);
  const MallocArenas found = find_malloc_arenas(*malloc.target(false));
  ASSERT_EQ(found.arenas.size(), 2u);
  EXPECT_EQ(found.arenas[0].address, 0u);
  EXPECT_EQ(found.arenas[1].address, malloc.other_arena);
  EXPECT_EQ(found.problems.texts(), std::vector<std::string>{}); // nothing is missing in the account
  expect_sums(found, malloc, false);
}

// Too few chunks to know the main heap by them.
TEST(MallocArenas, OneThatIsNotFoundIsSaid) {
  MallocWriter malloc(2);
  malloc.chunk(0, 0x290, Use::used);
  add_chunks(malloc, 7, 20);
  const MallocArenas found = find_malloc_arenas(*malloc.target(false));
  EXPECT_EQ(found.problems.texts(),
            std::vector<std::string>{"malloc's main arena was not found: what it holds is not identified"});
}

TEST(MallocArenas, BlocksMappedByThemselves) {
  MallocWriter malloc;
  add_chunks(malloc, 3, 50);
  constexpr Address first = 0x7d0000000000;
  malloc.large_block(first, 40 * 4096);
  malloc.large_block(first + 40 * 4096, 256 * 4096); // one mapping, perhaps
  const std::unique_ptr<Target> target = malloc.target();
  const MallocArenas found = find_malloc_arenas(*target);
  EXPECT_EQ(found.large_blocks, 2u);
  EXPECT_EQ(found.large_bytes, 296u * 4096);
  const std::vector<MallocBlock> blocks = find_large_blocks(target->memory, first, first + 296 * 4096);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].end, first + 40 * 4096);
  EXPECT_EQ(blocks[1].end, first + 296 * 4096);
  // One that would reach beyond what nobody claims is none.
  EXPECT_EQ(find_large_blocks(target->memory, first, first + 295 * 4096).size(), 1u);
}

// Any word of what malloc keeps replaced by any other: sums never exceed what is there, and the reader comes back.
TEST(MallocArenas, DamagedOnesAreCountedAsFarAsTheyAreSound) {
  for (u64 seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    MallocWriter malloc(2);
    add_chunks(malloc, seed, 60);
    malloc.target();
    const u64 values[] = {0,
                          1,
                          8,
                          ~u64{0},
                          0x31,
                          MallocWriter::sbrk_base,
                          malloc.main_arena,
                          malloc.other_arena,
                          MallocWriter::other_heaps,
                          random()};
    for (int i = 0; i < 3; ++i) {
      Block &block = random() % 2 ? malloc.libc_data : malloc.heaps[random() % malloc.heaps.size()];
      const u64 words = std::min<u64>(block.bytes().size(), 4096) / 8;
      block.put(block.address() + 8 * (random() % words), values[random() % std::size(values)], 8);
    }
    const std::unique_ptr<Target> target = malloc.target();
    const MallocArenas found = find_malloc_arenas(*target);
    for (const MallocHeap &heap : found.heaps) {
      EXPECT_LE(heap.in_use + heap.cached + heap.free + heap.top, heap.end - heap.start) << "seed " << seed;
      EXPECT_LT(heap.arena, found.arenas.size());
    }
  }
}

// Where the next place of a heap lies beyond the address space.
TEST(MallocArenas, MemoryAtTheEndOfTheAddressSpace) {
  const std::vector<std::byte> bytes(0x1000);
  Target target;
  target.memory = Memory(all_formats[0], {{~u64{0} - 0x1fff, bytes}});
  EXPECT_TRUE(find_malloc_arenas(target).arenas.empty());
}

// Three segments of mimalloc, and a place that only looks like one; a mapping may end within a segment.
TEST(MallocArenas, SegmentsOfMimallocHaveTheirAddressMixedWithOneWord) {
  constexpr u64 segment = 32 << 20, key = 0x4c615dfca9147252;
  constexpr Address first = 0x57000000000;
  const std::array<u64, 4> offsets = {0, segment, 2 * segment, 5 * segment};
  std::array<std::vector<u64>, 4> heads;
  Target target;
  target.os = OperatingSystem::linux_os;
  std::vector<Range> ranges;
  for (u64 i = 0; i < offsets.size(); ++i) {
    const Address at = first + offsets[i];
    heads[i].assign(512, 0);
    heads[i][27] = i == 2 ? key : at ^ key; // the third has the word itself
    ranges.push_back({at, std::as_bytes(std::span(heads[i]))});
    target.mappings.push_back({.start = at, .end = at + (i == 3 ? u64{1} << 20 : segment)});
  }
  target.memory = Memory(Format{}, std::move(ranges));
  EXPECT_TRUE(find_mimalloc_segments(target).empty()); // nobody has loaded it
  Module module;
  module.path = "/usr/lib/libmimalloc.so.2";
  target.modules.push_back(module);
  const std::vector<MallocBlock> found = find_mimalloc_segments(target);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].start, first + segment);
  EXPECT_EQ(found[1].end, first + 2 * segment);
  EXPECT_EQ(found[2].end - found[2].start, u64{1} << 20);
  heads[0][27] = 0; // two agree by chance
  EXPECT_TRUE(find_mimalloc_segments(target).empty());
}

TEST(MallocArenas, OtherAllocatorsAreNamed) {
  Target target;
  for (const char *path :
       {"/usr/lib/libjemalloc.so.2", "/lib/ld-musl-x86_64.so.1", "/app/libmimalloc.so", "/lib/libm.so.6"}) {
    Module module;
    module.path = path;
    target.modules.push_back(module);
  }
  EXPECT_EQ(other_allocators(target),
            (std::vector<std::string>{"jemalloc (libjemalloc.so.2)", "musl (ld-musl-x86_64.so.1)",
                                      "mimalloc (libmimalloc.so)"}));
}

} // namespace
} // namespace dnheap::test
