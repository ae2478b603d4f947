// Heaps of compiled code, as they are published, and where their list breaks off.
#include "runtime/coreclr/code/code_heaps.h"
#include "support/block.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(CodeHeaps, AsTheyArePublished) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    const i64 p = format.pointer_size;
    Block block(format, 0x10000000);
    const Address second = block.words({0, 7, 0x40000, 0x40000}), first = block.words({second, 7, 0x30000, 0x31234}),
                  manager = block.words({0, 0, first}), variable = block.words({manager});
    ContractDescriptor d;
    Notes problems;
    auto find = [&] { return find_code_heaps(Memory(format, {block.range()}), d, problems); };
    d.set_number("EEJitManagerAddress", variable, true, Origin::published);
    d.set_field("EEJitManager", "AllCodeHeaps", 2 * p, Origin::published);
    d.set_field("CodeHeapListNode", "Next", 0, Origin::published);
    d.set_field("CodeHeapListNode", "StartAddress", 2 * p, Origin::published);
    EXPECT_FALSE(find());
    d.set_field("CodeHeapListNode", "EndAddress", 3 * p, Origin::published);
    const CodeHeap heaps[] = {{0x30000, 0x31234}, {0x40000, 0x40000}};
    EXPECT_EQ(find(), std::vector(std::begin(heaps), std::end(heaps)));
    EXPECT_TRUE(problems.empty());
    const std::string breaks_off = "the runtime's list of heaps of compiled code breaks off";
    block.pointer(second, first); // a circle
    EXPECT_EQ(find()->size(), 2u);
    EXPECT_EQ(problems.texts(), std::vector{breaks_off});
    block.pointer(second, 0x666000); // not in the dump
    EXPECT_EQ(find()->size(), 2u);
    block.pointer(first + 3 * static_cast<u64>(p), 0x2ffff); // ends before it begins
    EXPECT_TRUE(find()->empty());
    EXPECT_EQ(problems.size(), 1u); // each once
  }
}

} // namespace
} // namespace dnheap::test
