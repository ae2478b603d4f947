// Every reference is found, in every shape that a GCDesc can have, and every bad one is told; against what the test
// itself wrote into the objects.
#include "objects/reference_check.h"
#include "support/property.h"
#include "support/random_graph.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

u64 mix(u64 a, u64 b) {
  u64 h = a * 0x9e3779b97f4a7c15 + b;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  return h ^ h >> 32;
}

ReferenceCheck check(const Indexed &in, unsigned threads, u64 most) {
  return check_references(
      in.opened.heap, in.opened.runtime, *in.index, *in.references, HeaderCheck(in.opened.runtime),
      [](Address) { return true; }, threads, {}, most);
}

TEST(ReferenceCheck, FindsWhatTheTestWrote) {
  for_all(40, heaps(300), [](const HeapCase &c) {
    std::mt19937_64 random(c.seed);
    RandomGraph made({.format = c.format}, random, c.bad, c.objects, c.null);
    u64 references = 0, edges = 0;
    for (const auto &[object, targets] : made.targets)
      for (Address target : targets) {
        ++references;
        edges += mix(object, target);
      }
    Indexed in(made.heap);
    for (unsigned threads : {1u, 3u}) {
      ReferenceCheck found = check(in, threads, 1000000);
      EXPECT_EQ(found.objects, made.objects().size());
      EXPECT_EQ(found.references, references);
      EXPECT_EQ(found.edges, edges);
      EXPECT_EQ(found.hidden, 0u);
      EXPECT_EQ(found.unreadable, 0u);
      EXPECT_EQ(found.bad_headers, 0u);
      EXPECT_EQ(found.bad, made.bad.size());
      EXPECT_TRUE(found.undescribed.empty());
      std::map<Address, Address> bad;
      for (const BadReference &b : found.bad_references) {
        bad[b.slot] = b.target;
        bool is_free = std::find(made.free.begin(), made.free.end(), b.target) != made.free.end();
        EXPECT_EQ(b.problem == ReferenceProblem::free_space, is_free);
        EXPECT_EQ(b.problem == ReferenceProblem::outside, b.target == made.heap.object_type);
        EXPECT_EQ(b.problem == ReferenceProblem::unaligned, b.target % 4 != 0);
      }
      EXPECT_EQ(bad, made.bad);
    }
  });
}

TEST(ReferenceCheck, ListsTheFirstByAddress) {
  std::mt19937_64 random(6);
  RandomGraph made({}, random);
  Indexed in(made.heap);
  ReferenceCheck all = check(in, 1, 1000000);
  ASSERT_GT(all.bad, 10u);
  ReferenceCheck some = check(in, 3, 7);
  ASSERT_EQ(some.bad_references.size(), 7u);
  EXPECT_EQ(some.bad, all.bad);
  for (u64 i = 0; i < 7; ++i)
    EXPECT_EQ(some.bad_references[i].slot, all.bad_references[i].slot);
}

// A GCDesc that names places outside of the object: its type is told, and its objects' references are not followed.
TEST(ReferenceCheck, TellsTypesWithoutSoundDescription) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    const u64 p = heap.p;
    Address type = heap.method_table({.base_size = static_cast<u32>(4 * p), .series = {{p, 2 * p}}});
    SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2);
    Address object = segment.object(type);
    segment.store(object + p, object, p);
    heap.poke(type - 2 * p, 9 * p, p); // where the series begins
    Indexed in(heap);
    ReferenceCheck found = check(in, 1, 10);
    EXPECT_EQ(found.undescribed, std::vector<Address>{type});
    EXPECT_EQ(found.references, 0u);
  }
}

// What a dependent handle ties to an object that is none.
TEST(ReferenceCheck, LooksAtHiddenReferences) {
  HeapBuilder heap({});
  SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2);
  Address a = segment.object(heap.object_type), b = segment.object(heap.object_type);
  Indexed in(heap, {{a, b}, {a, b + 8}, {b, 0}, {0, b}});
  ReferenceCheck found = check(in, 1, 10);
  EXPECT_EQ(found.hidden, 2u);
  EXPECT_EQ(found.bad, 1u);
  ASSERT_EQ(found.bad_references.size(), 1u);
  EXPECT_EQ(found.bad_references[0].slot, 0u);
  EXPECT_EQ(found.bad_references[0].target, b + 8);
}

} // namespace
} // namespace dnheap::test
