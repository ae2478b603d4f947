// Finding a runtime module's descriptor: by its export, else by its magic.
#include "contract/find.h"
#include "support/heap_builder.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

std::optional<FoundDescriptor> find(HeapBuilder &heap) {
  std::unique_ptr<Target> target = heap.target();
  return find_descriptor(*target, target->modules.at(0));
}

TEST(Find, ByExport) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    std::optional<FoundDescriptor> found = find(heap);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->how, "export of libcoreclr.so");
    std::unique_ptr<Target> target = heap.target();
    EXPECT_EQ(parse_descriptor(target->memory, found->address).contracts.count("Thread"), 1u);
  }
}

TEST(Find, ByMagic) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format, .net = Net::net10, .exported = false});
    // The magic alone, as code that compares with it would have it, is no descriptor.
    Address decoy = heap.data.reserve(64);
    heap.data.put(decoy, descriptor_magic, 8);
    heap.data.put(heap.data.reserve(8), descriptor_magic, 8);
    // Nor is a header that claims more pointers than any has.
    for (u64 word : {u64{heap.p == 8 ? 1u : 3u}, u64{5}})
      heap.data.word(heap.data.reserve(4, 1), word);
    heap.data.pointer(heap.data.reserve(heap.p, 1), decoy);
    heap.data.word(heap.data.reserve(4, 1), 0xffffffff);
    heap.data.reserve(64);
    std::optional<FoundDescriptor> found = find(heap);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->how, "scan of libcoreclr.so for its magic");
    std::unique_ptr<Target> target = heap.target();
    EXPECT_EQ(parse_descriptor(target->memory, found->address).contracts.count("Thread"), 1u);
  }
}

TEST(Find, BehindAnExportWhosePageIsMissing) {
  HeapBuilder heap({});
  Address at = find(heap)->address;
  heap.hole(at, at + 8);
  std::optional<FoundDescriptor> found = find(heap);
  // What remains is the GC's, which must not pass for the main one.
  EXPECT_FALSE(found) << found->how;
}

// Each place with the magic may name the same 16 MiB of JSON.
TEST(Find, MagicsWithoutEnd) {
  HeapBuilder heap({.net = Net::net10, .exported = false});
  Address json = heap.data.reserve(16 << 20);
  for (int i = 0; i < 2000; ++i)
    heap.data.words({descriptor_magic, u64{16 << 20} << 32 | 1, json, 0, json});
  EXPECT_FALSE(find(heap));
}

TEST(Find, Nothing) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format, .net = Net::net8});
    EXPECT_FALSE(find(heap));
  }
}

} // namespace
} // namespace dnheap::test
