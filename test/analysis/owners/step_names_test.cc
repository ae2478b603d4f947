// Names of steps by whole types, against the name of each reference by itself.
#include "analysis/owners/step_names.h"
#include "objects/object_graph.h"
#include "support/random_graph.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

SnapshotOptions by(unsigned threads) {
  SnapshotOptions out;
  out.threads = threads;
  return out;
}

// By object.
std::map<u32, std::string> names_of(const Snapshot &snapshot, const ShortestPaths &search,
                                    std::span<const ObjectId> instances) {
  ObjectView view(snapshot);
  const Insides insides(snapshot.runtime(), snapshot.references().types());
  StepNames names(snapshot, view, insides);
  const LargeArray<u32> steps = names.name_steps(search, instances);
  std::map<u32, std::string> out;
  for (u32 i = 0; i < snapshot.graph().objects(); ++i)
    if (steps[i] != 0)
      out[i] = names.text(steps[i]);
  return out;
}

// Of every layout that references can have, with null between them, with and without bad ones, and of dependent
// handles.
TEST(StepNames, AsOfEachReferenceByItself) {
  std::mt19937_64 random(5);
  std::set<std::string> texts;
  for (Format format : all_formats)
    for (u64 bad : {0, 4}) {
      SCOPED_TRACE(name_of(format) + ", bad " + std::to_string(bad));
      RandomGraph made({.format = format}, random, bad);
      for (int i = 0; i < 40; ++i)
        made.heap.gc.handles.push_back(
            {.type = HandleType::dependent, .object = made.random_object(), .secondary = made.random_object()});
      for (unsigned threads : {1u, 3u}) {
        const Snapshot snapshot(made.heap.target(), by(threads));
        ObjectView view(snapshot);
        std::vector<OwnedRoot> roots;
        std::vector<ObjectId> instances;
        ShortestPaths search(snapshot.graph().edges(), 1, {});
        for (int i = 0; i < 3; ++i)
          roots.push_back({snapshot.index().find(made.random_object()), OwnerId(static_cast<u32>(i))});
        search.grow(roots);
        for (u32 i = 0; i < snapshot.graph().objects(); i += 3)
          if (search.met(ObjectId{i}))
            instances.push_back(ObjectId{i});
        ASSERT_GT(instances.size(), 100u);
        const std::map<u32, std::string> named = names_of(snapshot, search, instances);
        for (ObjectId instance : instances)
          for (ObjectId at = instance; search.parent(at); at = *search.parent(at)) {
            const std::string expected = view.field_between(*search.parent(at), at, ObjectView::Indices::folded);
            const auto found = named.find(static_cast<u32>(at));
            ASSERT_NE(found, named.end());
            ASSERT_EQ(found->second, expected);
            texts.insert(expected);
          }
      }
    }
  for (const char *text : {"[*]", "[*].0x8", "[*].0x4", "(dependent handle)"})
    EXPECT_TRUE(texts.contains(text)) << text;
}

// The references of one large array are shared by the threads.
TEST(StepNames, ALargeArray) {
  constexpr u64 items = 200'000;
  HeapBuilder heap({});
  const Address node = heap.type("Shop.Item", 1);
  SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2), &large = heap.segment(GCSegmentGeneration::loh);
  const Address array = large.object(heap.object_array_type, items);
  for (u64 i = 0; i < items; ++i)
    large.block.pointer(array + (2 + i) * 8, segment.object(node));
  for (unsigned threads : {1u, 3u}) {
    const Snapshot snapshot(heap.target(), by(threads));
    const OwnedRoot root{snapshot.index().find(array), OwnerId{0}};
    ShortestPaths search(snapshot.graph().edges(), threads, {});
    search.grow({&root, 1});
    std::vector<ObjectId> instances;
    for (u32 i = 0; i < snapshot.graph().objects(); ++i)
      if (ObjectId{i} != root.object)
        instances.push_back(ObjectId{i});
    const std::map<u32, std::string> named = names_of(snapshot, search, instances);
    ASSERT_EQ(named.size(), items);
    for (const auto &[object, text] : named)
      ASSERT_EQ(text, "[*]");
  }
}

TEST(StepNames, AStepWithoutAName) {
  HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen2).object(heap.object_type);
  const Snapshot snapshot(heap.target(), {});
  ObjectView view(snapshot);
  const Insides insides(snapshot.runtime(), snapshot.references().types());
  EXPECT_EQ(StepNames(snapshot, view, insides).text(0), "…");
}

} // namespace
} // namespace dnheap::test
