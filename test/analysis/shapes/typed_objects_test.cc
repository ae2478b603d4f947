// Objects of some types are the same ones whether the graph's column of types or a walk of the heap finds them.
#include "analysis/shapes/typed_objects.h"
#include "support/heap_builder.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;
using Addresses = std::vector<Address>;

TEST(TypedObjects, TheGraphFindsWhatAWalkFinds) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    const Address seat = heap.type("Shop.Seat", 2), aisle = heap.type("Shop.Aisle", 1);
    SegmentWriter &old = heap.segment(G::gen2);
    Addresses seats, aisles, gaps;
    for (u32 i = 0; i < 400; ++i)
      if (i % 7 == 3)
        gaps.push_back(old.free(64));
      else if (i % 5 == 0)
        aisles.push_back(old.object(aisle));
      else
        seats.push_back(old.object(seat));
    const Snapshot snapshot(heap.target(), {});
    const auto found = [&](const Addresses &types) { return addresses_of(objects_of(snapshot, types)); };
    Addresses both = {seat, aisle}, with_free = {seat, heap.free_type};
    std::sort(both.begin(), both.end()), std::sort(with_free.begin(), with_free.end());
    const auto expect_all = [&] {
      EXPECT_EQ(found({seat}), seats);
      EXPECT_EQ(found({aisle}), aisles);
      EXPECT_EQ(found(both).size(), seats.size() + aisles.size());
      EXPECT_EQ(found(with_free).size(), seats.size() + gaps.size());
      EXPECT_EQ(found({}), Addresses());
      EXPECT_EQ(found({seat + 1}), Addresses()) << "no type";
      for (const TypedObject &object : objects_of(snapshot, both))
        EXPECT_EQ(object.method_table, std::count(seats.begin(), seats.end(), object.address) ? seat : aisle);
    };
    ASSERT_FALSE(snapshot.has_graph());
    expect_all();
    snapshot.graph();
    ASSERT_TRUE(snapshot.has_graph());
    expect_all();
  }
}

} // namespace
} // namespace dnheap::test
