#include "heap/gcdesc.h"
#include "support/opened.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace dnheap::test {
namespace {

// Descriptions that name places outside of an object, or do not fit the array, are none.
TEST(GCDesc, DamagedOnesAreRefused) {
  std::mt19937_64 random(9);
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    const u64 p = heap.p;
    Address type = heap.method_table({.base_size = static_cast<u32>(6 * p), .series = {{p, p}, {3 * p, 2 * p}}});
    Address array = heap.method_table({.base_size = static_cast<u32>(3 * p),
                                       .component_size = static_cast<u32>(4 * p),
                                       .flags = 0x000a0000,
                                       .pattern = {{1, p}, {1, p}},
                                       .pattern_start = 2 * p});
    u64 refused = 0, accepted = 0;
    for (auto [mt, base, component] : {std::tuple{type, 6 * p, u64{0}}, {array, 3 * p, 4 * p}}) {
      EXPECT_TRUE(GCDesc::at(heap.target()->memory, mt, static_cast<u32>(base), static_cast<u32>(component)));
      for (int round = 0; round < 300; ++round) {
        std::vector<std::byte> native(heap.native.bytes());
        u64 at = mt - heap.native.address() - 1 - random() % (5 * p);
        native[at] = static_cast<std::byte>(random());
        Memory memory(format, {{heap.native.address(), native}});
        std::optional<GCDesc> desc = GCDesc::at(memory, mt, static_cast<u32>(base), static_cast<u32>(component));
        ++(desc ? accepted : refused);
        // Whatever is accepted stays inside an object of the smallest size with three elements.
        std::vector<std::byte> object(base + 3 * component);
        if (desc)
          desc->for_each_slot(object.data(), object.size(), format, [&](const std::byte *slot) {
            EXPECT_GE(slot, object.data() + p);
            EXPECT_LE(slot + p, object.data() + object.size() - p);
          });
      }
    }
    EXPECT_GT(refused, 100u);
    EXPECT_GT(accepted, 20u);
  }
}

// Slices together have the slots of the whole, each once.
TEST(GCDesc, SlicesMakeTheWhole) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    const u64 p = heap.p;
    auto shape = [&](u64 words) {
      return TypeShape{.base_size = static_cast<u32>(3 * p),
                       .component_size = static_cast<u32>(words * p),
                       .flags = 0x000a0000,
                       .element = heap.object_type};
    };
    std::vector<std::pair<Address, u64>> types; // with words per element
    for (u64 words : {1, 3, 6000}) {
      TypeShape whole = shape(words);
      whole.series = {{2 * p, 0}};
      types.emplace_back(heap.method_table(whole), words);
    }
    for (u64 words : {3, 5, 6000}) {
      TypeShape pattern = shape(words);
      pattern.pattern = {{1, p}, {1, (words - 3) * p}};
      pattern.pattern_start = 2 * p;
      types.emplace_back(heap.method_table(pattern), words);
    }
    auto target = heap.target();
    for (auto [mt, words] : types)
      for (u64 elements : {0u, 1u, 2u, 3u, 4096u, 4097u, 30000u}) {
        u64 component = words * p;
        if (elements * component > 100000 * p)
          continue;
        std::optional<GCDesc> desc =
            GCDesc::at(target->memory, mt, static_cast<u32>(3 * p), static_cast<u32>(component));
        ASSERT_TRUE(desc);
        std::vector<std::byte> object(3 * p + elements * component);
        std::vector<const std::byte *> all, sliced;
        desc->for_each_slot(object.data(), object.size(), format, [&](const std::byte *s) { all.push_back(s); });
        u64 slices = desc->slices(object.size());
        for (u64 i = 0; i < slices; ++i)
          desc->for_each_slot_of_slice(object.data(), object.size(), i, format,
                                       [&](const std::byte *s) { sliced.push_back(s); });
        EXPECT_EQ(all, sliced);
        EXPECT_EQ(slices > 1, object.size() - 3 * p > 2 * GCDesc::slice_bytes) << words << " " << elements;
      }
  }
}

} // namespace
} // namespace dnheap::test
