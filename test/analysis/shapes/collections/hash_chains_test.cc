// How a HashSet's entries share its buckets, by codes that are written; tables that contradict themselves; and what
// `report` says of a bad one.
#include "analysis/shapes/collections/hash_chains.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u32 used_last = 0xffffffff; // no entry follows
constexpr u32 is_free = 0xfffffffd;

struct Sets : LibraryHeap {
  explicit Sets(const HeapShape &shape) : LibraryHeap(shape) {
    MetadataWriter &metadata = heap.app().metadata;
    seat = type("Shop", "Seat", 0, 4, {});
    set = type_of(generic("System.Collections.Generic", "HashSet`1"), 0, 6,
                  {"_buckets", "_entries", "!_count", "_comparer"}, 0, {seat});
    integers = heap.array(heap.object_type, 4);
    const u32 rid = metadata.type("System.Collections.Generic", "Entry");
    const Address entry = heap.method_table({.base_size = static_cast<u32>(5 * p), .flags = 0x40000, .rid = rid});
    const auto field = [&](const char *name, ElementType kind, u64 at) {
      const ElementType written = kind == ElementType::Class ? ElementType::Object : kind;
      return FieldShape{metadata.field(name, field_signature(element(written))), kind, static_cast<u32>(at)};
    };
    heap.fields(entry, {field("HashCode", ElementType::I4, 0), field("Next", ElementType::I4, 4),
                        field("Value", ElementType::Class, 8)});
    heap.value_type(entry, ElementType::ValueType, 8 + p);
    entries = heap.array(entry, static_cast<u32>(8 + p));
  }

  Address made(const std::vector<u32> &codes, u64 buckets, u32 next = used_last, u64 count = 0) {
    const Address array = old.object(entries, codes.size()), value = with(seat, {});
    for (u64 i = 0; i < codes.size(); ++i) {
      const Address at = array + 2 * p + i * (8 + p);
      old.store(at, codes[i], 4), old.store(at + 4, next, 4), old.store(at + 8, value, p);
    }
    return with(set, {old.object(integers, buckets), array, count ? count : codes.size(), 0});
  }

  Address seat = 0, set = 0, integers = 0, entries = 0;
};

std::optional<HashChains> chains_of(Sets &sets, Address set, u64 least = 1) {
  Opened opened(sets.heap);
  FieldReader fields(opened.runtime);
  return hash_chains(opened.runtime, fields, set, least);
}

TEST(HashChains, CountsEntriesThatShareABucket) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Sets s(shape);
    const std::optional<HashChains> found = chains_of(s, s.made({3, 8, 13, 3, 4, 0}, 6)); // in buckets 3, 2, 1, 3, 4, 0
    ASSERT_TRUE(found);
    EXPECT_EQ(found->entries, 6u);
    EXPECT_EQ(found->longest, 2u);
    EXPECT_EQ(found->steps, 7u);
    EXPECT_EQ(found->codes, 5u);
    EXPECT_NE(found->key, 0u);
  }
}

TEST(HashChains, AreUnknownWhereTheTableContradictsItself) {
  Sets s({});
  const Address shorter = s.made({1, 2, 3}, 2), cyclic = s.made({1, 2, 3}, 3, 3),
                counted = s.made({1, 2}, 2, used_last, 3), few = s.made({1, 2, 3}, 3),
                removed = s.made({1, 2, 3}, 3, is_free);
  Opened opened(s.heap);
  FieldReader fields(opened.runtime);
  for (const Address set : {shorter, cyclic, counted, removed, s.seat, Address{0}})
    EXPECT_FALSE(hash_chains(opened.runtime, fields, set, 1)) << set;
  EXPECT_TRUE(hash_chains(opened.runtime, fields, few, 3));
  EXPECT_FALSE(hash_chains(opened.runtime, fields, few, 4));
}

std::string found_of_codes(const HeapShape &shape, u32 count, u32 (*code)(u32), bool is_held = true) {
  Sets s(shape);
  std::vector<u32> codes;
  for (u32 i = 0; i < count; ++i)
    codes.push_back(code(i));
  const Address set = s.made(codes, count);
  s.heap.gc.handles = {{.type = HandleType::strong, .object = s.array({is_held ? set : Address{0}})}};
  return findings_of_kind(s.heap, "long_chains");
}

TEST(HashChains, LongOnesAreAFinding) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    const std::string found = found_of_codes(shape, 1000, [](u32) { return 17u; });
    EXPECT_TRUE(found.starts_with("certain 1000: Each look-up in a HashSet<")) << found;
    EXPECT_NE(found.find("> of 1,000 entries, held by "), std::string::npos) << found;
    EXPECT_TRUE(found.ends_with(", compares 501 of them on average: all keys have the same hash code. GetHashCode of "
                                "Shop.Seat has to return values that differ.\n"))
        << found;
  }
  EXPECT_NE(found_of_codes({}, 1000, [](u32 i) { return i % 5; }).find("the keys have only 5 different hash codes"),
            std::string::npos);
  EXPECT_NE(found_of_codes({}, 1000, [](u32 i) { return i * 1000; }).find("multiples of one another"),
            std::string::npos);
}

TEST(HashChains, ShortOnesAreNone) {
  EXPECT_EQ(found_of_codes({}, 1000, [](u32 i) { return i; }), "");
  EXPECT_EQ(found_of_codes({}, 2000, [](u32 i) { return i / 20; }), "");
  EXPECT_EQ(found_of_codes({}, 999, [](u32) { return 17u; }), "");
  EXPECT_EQ(found_of_codes(
                {}, 1000, [](u32) { return 17u; }, false),
            ""); // garbage
}

} // namespace
} // namespace dnheap::test
