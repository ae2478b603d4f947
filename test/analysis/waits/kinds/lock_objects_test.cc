// find_locks: which semaphore is a part of which BlockingCollection, in every layout.
#include "analysis/waits/kinds/lock_objects.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// The name is "BlockingCollection<Shop.Desk+Job>", and that of no type nested in a collection.
TEST(LockObjects, CollectionsOfNestedTypes) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    LibraryHeap s(shape);
    const Address job = s.nested(s.heap.app().metadata.type("Shop", "Desk"), "Job", 3, {"_text"}),
                  semaphore = s.type("System.Threading", "SemaphoreSlim", 0, 5, {"!m_currentCount", "!m_waitCount"}),
                  of_jobs = s.type_of(s.generic("System.Collections.Concurrent", "BlockingCollection`1"), 0, 5,
                                      {"_freeNodes", "_occupiedNodes", "!_currentAdders"}, 0, {job});
    const Address free = s.with(semaphore, {1, 0}), occupied = s.with(semaphore, {0, 0}),
                  jobs = s.with(of_jobs, {free, occupied, 0});
    const Snapshot snapshot(s.heap.target(), {});
    const LockSet locks = find_locks(snapshot);
    ASSERT_EQ(locks.collections.size(), 2u);
    EXPECT_EQ(locks.collections.at(free).collection, jobs);
    EXPECT_TRUE(locks.collections.at(free).is_for_place);
    EXPECT_EQ(locks.collections.at(occupied).collection, jobs);
    EXPECT_FALSE(locks.collections.at(occupied).is_for_place);
  }
}

} // namespace
} // namespace dnheap::test
