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

// A table of which a sample is a part: whether it may have long chains by the sample, and whether it has them.
void expect_sample_agrees(const char *what, u32 count, u32 (*code)(u32), bool is_bad) {
  SCOPED_TRACE(what);
  constexpr double usual = 16;
  Sets s({});
  std::vector<u32> codes;
  for (u32 i = 0; i < count; ++i)
    codes.push_back(code(i));
  const Address set = s.made(codes, count);
  Opened opened(s.heap);
  FieldReader fields(opened.runtime);
  const std::optional<HashChains> all = hash_chains(opened.runtime, fields, set, 1);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->usual() >= usual, is_bad) << all->usual();
  EXPECT_EQ(may_have_long_chains(opened.runtime, fields, set, usual), is_bad);
}

TEST(HashChains, ASampleOfALargeTable) {
  constexpr u32 count = 300'000;
  expect_sample_agrees(
      "spread well", count, [](u32 i) { return i * 7919; }, false);
  expect_sample_agrees(
      "two in each bucket", count, [](u32 i) { return i / 2; }, false);
  expect_sample_agrees(
      "one code", count, [](u32) { return 17u; }, true);
  expect_sample_agrees(
      "35 in each bucket", count, [](u32 i) { return i / 35; }, true);
  expect_sample_agrees(
      "the same codes again and again", count, [](u32 i) { return i % (count / 35); }, true);
  expect_sample_agrees(
      "one long chain at the end", count, [](u32 i) { return i < count - 3100 ? i : 5u; }, true);
  expect_sample_agrees(
      "every second entry in few buckets", count, [](u32 i) { return i % 2 ? i : i % 64; }, true);
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
