// Marking against a search that looks at one object after the other and keeps sets; and shapes that are hard on
// searches.
#include "objects/live.h"
#include "objects/path_search.h"
#include "objects/roots.h"
#include "support/property.h"
#include "support/random_graph.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// Stage by stage: everything that the roots reach; a dependent handle counts once its key was reached.
std::vector<std::set<Address>> reach(RandomGraph &made, std::span<const Dependent> dependents,
                                     std::span<const RootStage> stages) {
  std::map<Address, WrittenObject> objects = made.objects();
  std::vector<std::set<Address>> out;
  std::set<Address> all;
  for (const RootStage &stage : stages) {
    std::set<Address> &found = out.emplace_back();
    std::vector<Address> todo = stage.objects;
    for (;;) {
      while (!todo.empty()) {
        Address at = todo.back();
        todo.pop_back();
        if (!objects.contains(at) || !all.insert(at).second)
          continue;
        found.insert(at);
        const std::vector<Address> &targets = made.targets[at];
        todo.insert(todo.end(), targets.begin(), targets.end());
      }
      for (const Dependent &d : dependents)
        if (all.contains(d.key) && objects.contains(d.secondary) && !all.contains(d.secondary))
          todo.push_back(d.secondary);
      if (todo.empty())
        break;
    }
  }
  return out;
}

TEST(MarkLive, FindsWhatASimpleSearchFinds) {
  u64 most_share = 0, least_share = 100;
  for_all(60, heaps(300), [&](const HeapCase &c) {
    std::mt19937_64 random(c.seed);
    RandomGraph made({.format = c.format}, random, c.bad, c.objects, c.null);
    std::vector<Dependent> dependents;
    for (u64 i = 0; i < c.dependents; ++i)
      dependents.push_back({made.random_object(), made.random_object()});
    for (u64 i = 1; i < std::min<u64>(20, c.dependents); ++i) // a chain
      dependents.push_back({dependents[i - 1].secondary, made.random_object()});
    dependents.push_back({made.free[0], made.random_object()});
    dependents.push_back({made.random_object(), made.free[0]});
    std::vector<RootStage> stages(3);
    for (RootStage &stage : stages)
      for (u64 i = random() % 4; i; --i)
        stage.objects.push_back(made.random_object());
    stages[1].objects.push_back(made.free[0]);
    stages[1].objects.push_back(made.random_object() + made.p);
    stages[1].objects.push_back(0);
    stages[1].objects.push_back(made.heap.object_type);
    std::vector<std::set<Address>> wanted = reach(made, dependents, stages);
    std::map<Address, WrittenObject> objects = made.objects();
    Indexed in(made.heap, dependents);
    for (unsigned threads : {1u, 4u})
      for (u64 share_from : {u64{1}, u64{1024}}) {
        LiveObjects live = mark_live(*in.index, *in.references, stages, threads, {}, share_from);
        ASSERT_EQ(live.stages.size(), stages.size());
        u64 alive = 0;
        for (u64 s = 0; s < stages.size(); ++s) {
          u64 bytes = 0, bad = 0;
          for (Address address : wanted[s]) {
            bytes += objects[address].size;
            for (Address target : made.targets[address])
              bad += !objects.contains(target);
            for (const Dependent &d : dependents)
              bad += d.key == address && !objects.contains(d.secondary);
          }
          EXPECT_EQ(live.stages[s].objects, wanted[s].size());
          EXPECT_EQ(live.stages[s].bytes, bytes);
          EXPECT_EQ(live.stages[s].bad_references, bad);
          alive += wanted[s].size();
        }
        for (const auto &[address, object] : objects)
          ASSERT_EQ(live.objects.test(address), std::any_of(wanted.begin(), wanted.end(), [&](const auto &stage) {
                      return stage.contains(address);
                    }));
        EXPECT_FALSE(live.objects.test(made.free[0]));
        most_share = std::max(most_share, 100 * alive / objects.size());
        least_share = std::min(least_share, 100 * alive / objects.size());
      }
  });
  EXPECT_GT(most_share, 50u);
  EXPECT_LT(least_share, 20u);
}

// A list that no recursion survives.
TEST(MarkLive, FollowsAListOfFiveMillion) {
  constexpr u64 count = 5000000;
  HeapBuilder heap({});
  Address node = heap.method_table({.base_size = 24, .series = {{8, 8}}});
  heap.objects.reserve(count);
  std::vector<Address> nodes;
  nodes.reserve(count);
  for (int part = 0; part < 2; ++part) {
    SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2);
    for (u64 i = 0; i < count / 2; ++i) {
      nodes.push_back(segment.object(node));
      if (i)
        segment.block.pointer(nodes[nodes.size() - 2] + 8, nodes.back());
    }
  }
  heap.segments.front().block.pointer(nodes[count / 2 - 1] + 8, nodes[count / 2]);
  Indexed in(heap);
  RootStage stage{"", {nodes[0]}};
  EXPECT_EQ(mark_live(*in.index, *in.references, {&stage, 1}, 2, {}).stages[0].objects, count);
  stage.objects = {nodes[count - 10]};
  EXPECT_EQ(mark_live(*in.index, *in.references, {&stage, 1}, 2, {}).stages[0].objects, 10u);
}

// A large array is read in slices, by several threads; every element counts once.
// A segment that lies so low that address 0 is of its granule: null is no reference all the same.
TEST(MarkLive, NullIsNoReferenceWhereAPlaceCouldBe) {
  constexpr u64 count = 200000;
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    SegmentWriter &low = heap.segments.emplace_back(heap, GCSegmentGeneration::gen2, 0u, Address{0x10000});
    const Address element = low.object(heap.object_type);
    SegmentWriter &large = heap.segment(GCSegmentGeneration::loh);
    const Address array = large.object(heap.object_array_type, count);
    large.block.pointer(array + (2 + count / 2) * heap.p, element);
    Indexed in(heap);
    ASSERT_NE(in.index->places().find(0), HeapPlaces::nowhere);
    for (unsigned threads : {1u, 3u}) {
      RootStage stage{"", {array}};
      const LiveObjects live = mark_live(*in.index, *in.references, {&stage, 1}, threads, {}, 1);
      EXPECT_EQ(live.stages[0].objects, 2u);
      EXPECT_EQ(live.bad_references(), 0u);
      const OwnedRoot root{in.index->find(array), OwnerId{0}};
      PathSearch search(*in.index, *in.references, in.index->find(element), threads, {});
      EXPECT_EQ(search.grow({&root, 1})->objects.size(), 2u);
      EXPECT_EQ(search.bad_references(), 0u);
    }
  }
}

TEST(MarkLive, ReadsEverySliceOfALargeArray) {
  constexpr u64 count = 200000;
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    const u64 p = heap.p;
    SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2);
    SegmentWriter &large = heap.segment(GCSegmentGeneration::loh);
    // Whole elements of 3 words do not fit a slice evenly; the second and third hold references.
    Address structs = heap.method_table({.base_size = static_cast<u32>(3 * p),
                                         .component_size = static_cast<u32>(3 * p),
                                         .flags = 0x000a0000,
                                         .element = heap.object_type,
                                         .pattern = {{2, p}},
                                         .pattern_start = 3 * p});
    Address of_objects = large.object(heap.object_array_type, count), of_structs = large.object(structs, count / 2);
    std::vector<Address> elements;
    for (u64 i = 0; i < 2 * count; ++i)
      elements.push_back(segment.object(heap.object_type));
    for (u64 i = 0; i < count; ++i)
      large.block.pointer(of_objects + (2 + i) * p, elements[i]);
    for (u64 i = 0; i < count / 2; ++i)
      for (u64 k : {1, 2})
        large.block.pointer(of_structs + (2 + 3 * i + k) * p, elements[count + 2 * i + k - 1]);
    Indexed in(heap);
    for (unsigned threads : {1u, 3u})
      for (auto [array, size] : {std::pair{of_objects, count}, {of_structs, count}}) {
        RootStage stage{"", {array}};
        LiveObjects live = mark_live(*in.index, *in.references, {&stage, 1}, threads, {}, 1);
        EXPECT_EQ(live.stages[0].objects, size + 1);
        EXPECT_TRUE(live.objects.test(elements[array == of_objects ? count - 1 : 2 * count - 1]));
      }
  }
}

TEST(MarkLive, OneObjectWithManyReferrers) {
  constexpr u64 count = 300000;
  HeapBuilder heap({});
  SegmentWriter &large = heap.segment(GCSegmentGeneration::loh);
  Address array = large.object(heap.object_array_type, count);
  Address target = heap.segment(GCSegmentGeneration::gen2).object(heap.object_type);
  for (u64 i = 0; i < count; ++i)
    large.block.pointer(array + 16 + 8 * i, target);
  Indexed in(heap);
  RootStage stage{"", {array, target}};
  EXPECT_EQ(mark_live(*in.index, *in.references, {&stage, 1}, 3, {}, 1).stages[0].objects, 2u);
}

// Chains of dependent handles, each of whose keys only the one before keeps: in any order they take one look each.
TEST(MarkLive, FollowsLongChainsOfDependentHandles) {
  constexpr u64 count = 200000;
  HeapBuilder heap({});
  SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2);
  std::vector<Address> objects;
  for (u64 i = 0; i < count; ++i)
    objects.push_back(segment.object(heap.object_type));
  std::vector<Dependent> dependents;
  for (u64 i = 0; i + 1 < count; ++i)
    dependents.push_back({objects[i + 1], objects[i]}); // against the order of addresses
  Indexed in(heap, dependents);
  RootStage stage{"", {objects.back()}};
  EXPECT_EQ(mark_live(*in.index, *in.references, {&stage, 1}, 2, {}).stages[0].objects, count);
  stage.objects = {objects[0]};
  EXPECT_EQ(mark_live(*in.index, *in.references, {&stage, 1}, 2, {}).stages[0].objects, 1u);
}

// An object range that lies in several pieces of the dump.
TEST(MarkLive, ReadsRangesInSeveralPieces) {
  std::mt19937_64 random(23);
  RandomGraph made({}, random);
  for (SegmentWriter &segment : made.heap.segments)
    made.heap.cut(segment.start + 4000);
  Indexed in(made.heap);
  std::vector<RootStage> stages = {{"", {made.random_object(), made.random_object()}}};
  EXPECT_EQ(mark_live(*in.index, *in.references, stages, 2, {}).stages[0].objects, reach(made, {}, stages)[0].size());
}

TEST(RootStages, AreHandlesAndDueFinalizers) {
  for (const HeapShape &shape : all_shapes()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    SegmentWriter &segment = heap.shape.regions ? heap.segment(GCSegmentGeneration::gen2) : heap.ephemeral();
    std::vector<Address> o;
    for (int i = 0; i < 6; ++i)
      o.push_back(segment.object(heap.object_type));
    if (!heap.shape.regions) {
      segment.begin_gen1();
      segment.begin_gen0();
    }
    heap.gc.handles = {{.type = HandleType::strong, .object = o[0]},
                       {.type = HandleType::pinned, .object = o[1]},
                       {.type = HandleType::weak_long, .object = o[2]},
                       {.type = HandleType::dependent, .object = o[3], .secondary = o[4]}};
    Opened opened(heap);
    RootSet roots = find_roots(opened.runtime, [](Address) { return Address{0}; }, {.statics = false, .stacks = false});
    EXPECT_FALSE(roots.notes.have_effect()) << roots.notes[0].text;
    std::vector<RootStage> stages = root_stages(roots);
    ASSERT_EQ(stages.size(), 2u);
    EXPECT_EQ(stages[0].name, "handle:strong");
    EXPECT_EQ(stages[0].objects, std::vector<Address>{o[0]});
    EXPECT_EQ(stages[1].name, "handle:pinned");
    EXPECT_EQ(stages[1].objects, std::vector<Address>{o[1]});
  }
}

} // namespace
} // namespace dnheap::test
