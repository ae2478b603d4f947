// Where something has overwritten objects. Dumps lack memory, and threads are stopped while they make objects: neither
// is damage.
#include "analysis/verdict/heap_damage.h"
#include "base/text.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

std::string damage_of(HeapBuilder &heap) {
  Snapshot snapshot(heap.target(), {});
  return heap_damage(snapshot);
}

struct Damaged {
  explicit Damaged(const HeapShape &shape) : heap(shape), old(heap.segment(GCSegmentGeneration::gen2)) {
    const Address type = heap.type("Shop.Order", 2);
    old.object(type);
    text = old.string("written too far");
    victim = old.object(type);
    last = old.object(type);
  }
  HeapBuilder heap;
  SegmentWriter &old;
  Address text = 0, victim = 0, last = 0;
};

TEST(HeapDamage, NamesThePlaceAndWhatIsInFrontOfIt) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Damaged damaged(shape);
    EXPECT_EQ(damage_of(damaged.heap), "");
    damaged.old.store(damaged.victim, 0x5a5a5a5a, damaged.heap.p);
    EXPECT_EQ(damage_of(damaged.heap), "the heap is damaged at " + hex(damaged.victim) +
                                           ", behind a System.String of length 15 (" + hex(damaged.text) +
                                           "): something wrote past its end");
  }
}

TEST(HeapDamage, AnObjectThatIsBeingMadeIsSound) {
  Damaged damaged({});
  damaged.old.store(damaged.victim, 0, damaged.heap.p);
  EXPECT_EQ(damage_of(damaged.heap), "");
}

TEST(HeapDamage, ACollectionMovesObjects) {
  Damaged damaged({});
  damaged.old.store(damaged.victim, 0x5a5a5a5a, damaged.heap.p);
  damaged.heap.structures_invalid = 1;
  EXPECT_EQ(damage_of(damaged.heap), "");
}

} // namespace
} // namespace dnheap::test
