// Loader heaps told by their shape, and what only looks like some.
#include "runtime/coreclr/loader_heaps.h"
#include "support/block.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr Address first = 0x10000000, blocks_start = 0x20000000;

// A Module that leads to a LoaderAllocator with so many heaps of two blocks each.
struct Loader {
  explicit Loader(Format format, u32 heaps, bool has_ends = true) : block(format, first), p(format.pointer_size) {
    module = block.reserve(40 * p);
    allocator = block.reserve(200 * p);
    block.pointer(module + 22 * p, allocator);
    for (u32 i = 0; i < heaps; ++i) {
      const Address start = blocks_start + i * 0x100000;
      const Address old = block.words({0, start, 0x10000, 1}), last = block.words({old, start + 0x20000, 0x4000, 0});
      // vtable, first block, …, up to where it was handed out, committed, reserved
      const Address heap = has_ends ? block.words({7, last, 0, start + 0x20100, start + 0x21000, start + 0x24000, 0})
                                    : block.words({7, last, 0, start + 0x22000, start + 0x21000, start + 0x24000, 0});
      block.reserve(8 * p);
      block.pointer(allocator + (90 + 2 * i) * p, heap);
      expected.push_back({start, 0x10000, allocator});
      expected.push_back({start + 0x20000, 0x4000, allocator});
    }
    block.reserve(512 * p);
  }
  std::vector<LoaderHeapBlock> find() {
    const Memory memory(block.format(), {block.range()});
    const Address modules[] = {module, module, module + 1, 0};
    return find_loader_heaps(memory, published, modules);
  }

  Block block;
  const u64 p;
  ContractDescriptor published;
  Address module = 0, allocator = 0;
  std::vector<LoaderHeapBlock> expected;
};

TEST(LoaderHeaps, OfALoaderAllocator) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Loader loader(format, 4);
    EXPECT_EQ(loader.find(), loader.expected);
    const Memory memory(format, {loader.block.range()});
    EXPECT_EQ(loader_heaps_of(memory, {}, std::vector{loader.allocator, loader.module}), loader.expected);
  }
}

TEST(LoaderHeaps, NotOfWhatHasTooFewOrNoEnds) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    EXPECT_TRUE(Loader(format, 2).find().empty());
    EXPECT_TRUE(Loader(format, 4, false).find().empty());
  }
}

// As those of collectible contexts, which have fewer: the heaps are part of it, behind what was reserved at first.
TEST(LoaderHeaps, OfALoaderAllocatorWithOneHeapOfItsOwn) {
  enum Way { as_it_is, without_reservation, somewhere_else };
  for (Format format : all_formats)
    for (Way way : {as_it_is, without_reservation, somewhere_else}) {
      SCOPED_TRACE(name_of(format) + std::to_string(static_cast<int>(way)));
      Loader loader(format, 0);
      const u64 p = loader.p;
      const Address block = loader.block.words({0, blocks_start, 0x10000, 0});
      const Address heap = way == somewhere_else ? loader.block.reserve(7 * p) : loader.allocator + 17 * p;
      const u64 words[] = {7, block, 0, blocks_start + 0x100, blocks_start + 0x1000, blocks_start + 0x10000};
      for (u64 i = 0; i < std::size(words); ++i)
        loader.block.pointer(heap + i * p, words[i]);
      loader.block.reserve(600 * p);
      for (u64 i : {86, 87, 88}) // one heap for three purposes
        loader.block.pointer(loader.allocator + i * p, heap);
      if (way != without_reservation)
        loader.block.pointer(loader.allocator + 8, blocks_start);
      const std::vector<LoaderHeapBlock> expected = {{blocks_start, 0x10000, loader.allocator}};
      EXPECT_EQ(loader.find(), way == as_it_is ? expected : std::vector<LoaderHeapBlock>());
      const Memory memory(format, {loader.block.range()});
      EXPECT_EQ(loader_heaps_of(memory, {}, std::vector{loader.allocator}), expected) << "known to be one";
      loader.published.set_field("Module", "LoaderAllocator", static_cast<i64>(22 * p), Origin::published);
      EXPECT_EQ(loader.find(), expected) << "the module says so";
    }
}

TEST(LoaderHeaps, TheLoaderAllocatorsOfModules) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Loader loader(format, 3);
    const Address other = loader.block.reserve(64 * loader.p);
    const Memory memory(format, {loader.block.range()});
    const std::unordered_map<Address, Address> expected = {{loader.module, loader.allocator}};
    EXPECT_EQ(find_loader_allocators(memory, {}, std::vector{loader.module}), expected);
    const std::vector<Address> both = {loader.module, other};
    EXPECT_TRUE(find_loader_allocators(memory, {}, both).empty()) << "there is no place where both have one";
    EXPECT_TRUE(find_loader_allocators(memory, {}, {}).empty());
    loader.published.set_field("Module", "LoaderAllocator", static_cast<i64>(22 * loader.p), Origin::published);
    EXPECT_EQ(find_loader_allocators(memory, loader.published, both), expected);
  }
}

// What is published needs no shape: one heap is enough, of any size, without ends.
TEST(LoaderHeaps, AsTheyArePublished) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    const i64 p = format.pointer_size;
    Loader loader(format, 2, false);
    const Address odd = loader.block.words({0, 0x30000123, 0x777, 0});
    const Address heap = loader.block.words({7, odd}), stubs = loader.block.words({0, 0, heap});
    loader.block.pointer(loader.allocator + 5 * loader.p, stubs);
    auto set = [&](const char *type, const char *field, i64 words) {
      loader.published.set_field(type, field, words * p, Origin::published);
    };
    set("Module", "LoaderAllocator", 22);
    set("LoaderAllocator", "HighFrequencyHeap", 90);
    set("LoaderAllocator", "ExecutableHeap", 92);
    set("LoaderAllocator", "StaticsHeap", 60); // null
    set("LoaderAllocator", "VirtualCallStubManager", 5);
    set("VirtualCallStubManager", "IndcellHeap", 2);
    set("LoaderHeap", "FirstBlock", 1);
    set("LoaderHeapBlock", "Next", 0);
    set("LoaderHeapBlock", "VirtualAddress", 1);
    EXPECT_TRUE(loader.find().empty()); // not all of it is: by their shape
    set("LoaderHeapBlock", "VirtualSize", 2);
    loader.expected.push_back({0x30000123, 0x777, loader.allocator});
    EXPECT_EQ(loader.find(), loader.expected);
    const Memory memory(format, {loader.block.range()});
    EXPECT_EQ(loader_heaps_of(memory, loader.published, std::vector{loader.allocator}), loader.expected);
    loader.block.pointer(odd, odd); // a circle
    EXPECT_EQ(loader.find(), loader.expected);
    loader.block.pointer(odd + 2 * loader.p, u64{5} << 30 & (format.pointer_size == 8 ? ~u64{0} : 0));
    loader.expected.pop_back();
    EXPECT_EQ(loader.find(), loader.expected);
  }
}

// A list of blocks that leads into itself is followed for a while, and told once.
TEST(LoaderHeaps, CirclesEnd) {
  Loader loader({}, 3);
  const Address heap = load_pointer(loader.block.bytes().data() + (loader.allocator + 90 * loader.p - first), {});
  const Address last = load_pointer(loader.block.bytes().data() + (heap + loader.p - first), {});
  loader.block.pointer(last, last);
  const std::vector<LoaderHeapBlock> found = loader.find();
  EXPECT_EQ(found.size(), loader.expected.size() - 1);
}

} // namespace
} // namespace dnheap::test
