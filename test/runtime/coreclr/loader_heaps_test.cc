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
      expected.push_back({start, 0x10000});
      expected.push_back({start + 0x20000, 0x4000});
    }
    block.reserve(512 * p);
  }
  std::vector<LoaderHeapBlock> find() {
    const Memory memory(block.format(), {block.range()});
    const Address modules[] = {module, module, module + 1, 0};
    return find_loader_heaps(memory, modules);
  }

  Block block;
  const u64 p;
  Address module = 0, allocator = 0;
  std::vector<LoaderHeapBlock> expected;
};

TEST(LoaderHeaps, OfALoaderAllocator) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Loader loader(format, 4);
    EXPECT_EQ(loader.find(), loader.expected);
  }
}

TEST(LoaderHeaps, NotOfWhatHasTooFewOrNoEnds) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    EXPECT_TRUE(Loader(format, 2).find().empty());
    EXPECT_TRUE(Loader(format, 4, false).find().empty());
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
