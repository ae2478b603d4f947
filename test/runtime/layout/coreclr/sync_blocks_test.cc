// Where the table of sync blocks lies and how long it is: found by objects whose headers name their entries.
#include "runtime/layout/coreclr/sync_blocks.h"
#include "support/refound.h"

namespace dnheap::test {
namespace {

const std::vector<std::string> names = {"SyncTableEntries", "SyncTableEntry.SyncBlock", "SyncTableEntry.Object",
                                        "SyncBlockCache", "SyncBlockCache.FreeSyncTableIndex"};

// One object with a sync block, and room for another table.
struct Locks {
  explicit Locks(const HeapShape &shape) : heap(shape), p(heap.p) {
    object = heap.segment(GCSegmentGeneration::gen2).object(heap.object_type);
    heap.sync_block(object);
    other = heap.native.words({0, 0, 0, 0, 0, 0, 0, 0});
    of.emplace(heap);
  }
  void derive() {
    of->ask(names, [&](Derivation &d) { derive_sync_blocks(d, of->gc_variable()); });
  }

  HeapBuilder heap;
  const u64 p;
  Address object = 0, other = 0;
  std::optional<Refound> of;
};

TEST(LayoutSyncBlocks, AreFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Locks t(shape);
    t.derive();
    t.of->expect("SyncTableEntries", t.heap.variables.at("SyncTable"));
    t.of->expect("SyncTableEntry.SyncBlock", 0);
    t.of->expect("SyncTableEntry.Object", t.p);
    t.of->expect("SyncBlockCache", t.heap.variables.at("SyncBlockCache"));
    t.of->expect("SyncBlockCache.FreeSyncTableIndex", 5 * t.p + 4);
  });
}

TEST(LayoutSyncBlocks, TwoTablesAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Locks t(shape);
    t.heap.poke(t.other + 3 * t.p, t.object, t.p);
    t.heap.poke(t.heap.variables.at("Suspension"), t.other, t.p);
    t.heap.poke(t.heap.variables.at("g_dacTable") + 70 * t.p, t.heap.variables.at("Suspension"), t.p);
    t.derive();
    t.of->expect_refused("SyncTableEntries", "2 candidates in g_dacTable");
  });
}

TEST(LayoutSyncBlocks, ATableThatNoHeaderNamesIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Locks t(shape);
    t.heap.poke(t.object - 4, 0, 4);
    t.derive();
    t.of->expect_refused("SyncTableEntries", "0 candidates in g_dacTable");
  });
}

TEST(LayoutSyncBlocks, ACountBeyondTheSizeOfTheTableIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Locks t(shape);
    t.heap.poke(t.of->word(t.heap.variables.at("SyncBlockCache")) + 5 * t.p + 4, 2000, 4);
    t.derive();
    t.of->expect("SyncTableEntries", t.heap.variables.at("SyncTable"));
    t.of->expect_refused("SyncBlockCache", "counts the entries");
  });
}

} // namespace
} // namespace dnheap::test
