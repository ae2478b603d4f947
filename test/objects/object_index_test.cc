#include "objects/object_index.h"
#include "support/random_graph.h"
#include "support/random_heap.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// Every object that the builder wrote, and no other address, is one, numbered in order; Free is none.
TEST(ObjectIndex, NumbersObjectsByAddressAndBack) {
  std::mt19937_64 random(8);
  for (Format format : all_formats)
    for (u32 heaps : {1u, 3u}) {
      SCOPED_TRACE(name_of(format));
      HeapBuilder heap({.format = format, .server = heaps > 1, .heaps = heaps});
      add_random_heap(heap, 60000, random);
      Indexed in(heap, {}, heaps);
      std::set<Address> objects;
      for (const WrittenObject &object : heap.objects)
        if (object.method_table != heap.free_type)
          objects.insert(object.address);
      const ObjectIndex &index = *in.index;
      ASSERT_EQ(index.count(), objects.size());
      u32 id = 0;
      for (Address address : objects) {
        ASSERT_EQ(index.find(address), ObjectId(id));
        ASSERT_EQ(index.address(ObjectId(id)), address);
        ++id;
      }
      for (const SegmentWriter &segment : heap.segments)
        for (Address at = segment.block.address() - 64; at < segment.end() + 64; ++at)
          ASSERT_EQ(index.is_object(at), objects.contains(at)) << at;
      for (Address at : {Address{0}, Address{1} << 40, ~Address{0}, ~Address{7}})
        EXPECT_EQ(index.find(at), no_object);
      // By blocks, in order.
      std::vector<Address> visited;
      for (u64 block = 0; block < index.places().blocks(); ++block) {
        EXPECT_EQ(index.first_of(block), visited.size());
        index.for_each(block, [&](ObjectId object, Address address) {
          EXPECT_EQ(object, ObjectId(static_cast<u32>(visited.size())));
          visited.push_back(address);
        });
      }
      EXPECT_EQ(visited, std::vector<Address>(objects.begin(), objects.end()));
      EXPECT_EQ(index.first_of(index.places().blocks()), objects.size());
    }
}

TEST(ObjectIndex, FindsTheObjectInFrontOfAnAddress) {
  std::mt19937_64 random(9);
  HeapBuilder heap({});
  add_random_heap(heap, 20000, random);
  Indexed in(heap);
  std::map<Address, u64> objects; // with sizes
  for (const WrittenObject &object : heap.objects)
    if (object.method_table != heap.free_type)
      objects[object.address] = object.aligned_size;
  for (auto [address, size] : objects)
    for (u64 inside : {u64{0}, u64{1}, size / 2, size - 1})
      ASSERT_EQ(in.index->last_at_or_before(address + inside), in.index->find(address)) << address << "+" << inside;
  EXPECT_EQ(in.index->last_at_or_before(0), no_object);
  EXPECT_EQ(in.index->last_at_or_before(~Address{0}), no_object);
}

TEST(ObjectIndex, RefusesMoreObjectsThanIds) {
  HeapBuilder heap({});
  SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2);
  for (int i = 0; i < 100; ++i)
    segment.object(heap.object_type);
  Opened opened(heap);
  for (u64 most : {u64{100}, u64{99}}) {
    HeapBits starts(std::make_shared<HeapPlaces>(opened.heap, opened.runtime.memory().format()));
    tally_heap(opened.heap, opened.runtime, 1, {}, {}, &starts);
    if (most == 100) {
      EXPECT_EQ(ObjectIndex(std::move(starts), most).count(), 100u);
      continue;
    }
    try {
      ObjectIndex index(std::move(starts), most);
      FAIL() << "not refused";
    } catch (const Error &e) {
      EXPECT_NE(std::string(e.what()).find("the heap has 100 objects"), std::string::npos) << e.what();
    }
  }
}

} // namespace
} // namespace dnheap::test
