// What is derived of the GC: the table of its variables, its structures, the handle tables, the bounds of what it
// manages.
#include "runtime/layout/coreclr/dac_table.h"
#include "runtime/layout/coreclr/gc_bounds.h"
#include "runtime/layout/gc_dac_vars.h"
#include "runtime/layout/gc_structures.h"
#include "runtime/layout/handle_table.h"
#include "support/refound.h"

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// A segment, a handle, a free region; and, in the runtime's data, room for a second GcDacVars.
struct Gcs {
  explicit Gcs(const HeapShape &shape) : heap(shape), p(heap.p) {
    Address object = heap.segment(G::gen2).object(heap.object_type);
    heap.segment(G::gen0).object(heap.object_type);
    heap.gc.handles = {{.type = HandleType::strong, .object = object}};
    heap.gc.heaps[0].free_regions[0] = {{.mem = 0x1000, .committed = 0x2000}};
    heap.gc.heaps[0].free_regions[1] = {{.mem = 0x3000, .committed = 0x4000}};
    spare = heap.data.words(std::vector<u64>(48));
    of.emplace(heap);
  }
  Address table() const { return of->word(of->gc_variable()); }
  void derive(const std::vector<std::string> &names, void (*function)(Derivation &, const Gc &)) {
    of->ask(names, [&](Derivation &d) { function(d, *make_gc(d.memory, d.descriptor, {})); });
  }

  HeapBuilder heap;
  const u64 p;
  Address spare = 0;
  std::optional<Refound> of;
};

const std::vector<std::string> gc_names = {"GCIdentifiers", "MaxGeneration", "GCHeapGenerationTable",
                                           "Generation.StartSegment", "HeapSegment.Next"};

TEST(LayoutGcDacVars, IsFoundByItsSignatureAndTheVariableThatFollows) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    Address variable = 0;
    t.of->ask(gc_names, [&](Derivation &d) { variable = derive_gc(d); });
    EXPECT_EQ(variable, t.of->gc_variable());
    EXPECT_EQ(t.of->found.find_global("GCIdentifiers")->text, "workstation, regions, background");
    t.of->expect("MaxGeneration", t.heap.variables.at("max_gen"));
    t.of->expect("GCHeapGenerationTable", t.heap.variables.at("generation_table"));
    t.of->expect("Generation.StartSegment", 7 * t.p);
    t.of->expect("HeapSegment.Next", 6 * t.p);
  });
}

TEST(LayoutGcDacVars, TwoTablesAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    for (u64 i = 0; i < 42; ++i)
      t.heap.poke(t.spare + i * t.p, t.of->word(t.table() + i * t.p), t.p);
    t.heap.poke(t.spare + 44 * t.p, t.spare, t.p);
    t.of->ask(gc_names, [](Derivation &d) {
      try {
        derive_gc(d);
        ADD_FAILURE() << "one of two was taken";
      } catch (const Error &e) {
        EXPECT_NE(std::string(e.what()).find("2 places have its signature, and pointers to such a place: 2"),
                  std::string::npos)
            << e.what();
      }
    });
  });
}

TEST(LayoutGcDacVars, AnotherNumberOfGenerationsIsNoSignature) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    t.heap.poke(t.table() + 2 * t.p, 6, t.p);
    t.of->ask(gc_names, [&](Derivation &d) {
      EXPECT_THROW(derive_gc(d), Error);
      EXPECT_THROW(derive_gc_at(d, t.table(), 0), Error);
    });
  });
}

TEST(LayoutGcStructures, AreFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    t.derive({"OomHistory.Reason", "OomHistory.LohP", "CFinalize.FillPointers", "CFinalizeFillPointersLength",
              "RegionFreeList.HeadFreeRegion", "InterestingDataLength", "CardTableInfo.Size"},
             derive_gc_structures);
    t.of->expect("OomHistory.Reason", 0);
    t.of->expect("OomHistory.LohP", 8 * t.p);
    t.of->expect("CFinalize.FillPointers", (shape.net == Net::net9 ? 1 : 0) * t.p);
    t.of->expect("CFinalizeFillPointersLength", 7);
    t.of->expect("RegionFreeList.HeadFreeRegion", 5 * t.p);
    t.of->expect("InterestingDataLength", 9);
    t.of->expect("CardTableInfo.Size", t.p);
  });
}

TEST(LayoutGcStructures, WhatDoesNotBearThemOutIsRefused) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    const std::vector<std::string> names = {"OomHistory.Reason", "RegionFreeList.HeadFreeRegion",
                                            "CFinalize.FillPointers"};
    Gcs t(shape);
    const Address members = t.heap.variables.at("gc_members"); // from word 280 on
    t.heap.poke(members + 1 * t.p, 99, 4);                     // a reason that is none
    t.heap.poke(members + (328 - 280) * t.p, 3, t.p);          // the list has one region
    t.heap.poke(t.of->word(members) + 3 * t.p, 0x10, t.p);     // the ends do not ascend
    t.derive(names, derive_gc_structures);
    for (const std::string &name : names)
      EXPECT_EQ(t.of->value(name), std::nullopt) << name;
    for (const char *name : {"OomHistory", "RegionFreeList", "CFinalize.FillPointers"})
      EXPECT_TRUE(t.of->found.missing.contains(name)) << name;
  });
}

const std::vector<std::string> handle_names = {"HandleMaxInternalTypes", "HandleTable.SegmentList",
                                               "TableSegment.NextSegment"};

// Where the first table and its only segment lie, and where a segment with room for `kinds` has its links.
struct HandleSegment {
  explicit HandleSegment(const Gcs &t) : p(t.p) {
    const Address map = *t.of->known.try_number("HandleTableMap");
    table = t.of->word(t.of->word(t.of->word(t.of->word(map))));
    segment = t.of->word(table + list_at(t.heap.shape.net <= Net::net9 ? 12 : 13));
  }
  u64 list_at(u64 kinds) const { return align_up(4 * kinds, p); }
  u64 links_at(u64 kinds) const { return 16 * ((0x10000 - 0x1000) / (64 * p)) + 6 * kinds; }

  const u64 p;
  Address table = 0, segment = 0;
};

TEST(LayoutHandleTable, KindsAreFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    t.derive(handle_names, derive_handle_table);
    const u64 kinds = shape.net == Net::net10 ? 13 : 12;
    t.of->expect("HandleMaxInternalTypes", kinds);
    t.of->expect("HandleTable.SegmentList", align_up(4 * kinds, t.p));
    t.of->expect("TableSegment.NextSegment", HandleSegment(t).links_at(kinds));
  });
}

TEST(LayoutHandleTable, TwoNumbersOfKindsAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    const HandleSegment at(t);
    t.heap.poke(at.table + at.list_at(8), at.segment, t.p);
    t.heap.poke(at.segment + at.links_at(8) + t.p, at.table, t.p);
    t.derive(handle_names, derive_handle_table);
    t.of->expect_refused("HandleMaxInternalTypes", "discovered 2 candidates");
  });
}

TEST(LayoutHandleTable, ASegmentThatDoesNotPointBackIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    const HandleSegment at(t);
    t.heap.poke(at.segment + at.links_at(shape.net == Net::net10 ? 13 : 12) + t.p, at.table + t.p, t.p);
    t.derive(handle_names, derive_handle_table);
    t.of->expect_refused("HandleMaxInternalTypes", "discovered 0 candidates");
  });
}

const std::vector<std::string> bound_names = {"GCLowestAddress", "GCHighestAddress", "GCHeapCardTable"};

void derive_bounds(Gcs &t) {
  t.of->ask(bound_names, [&](Derivation &d) { derive_gc_bounds(d, t.of->gc_variable()); });
}

TEST(LayoutGcBounds, AreFound) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    derive_bounds(t);
    t.of->expect("GCLowestAddress", t.heap.variables.at("lowest"));
    t.of->expect("GCHighestAddress", t.heap.variables.at("highest"));
    t.of->expect("GCHeapCardTable", t.heap.variables.at("CardTable"));
  });
}

TEST(LayoutGcBounds, TwoPairsAreNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    const Address table = t.heap.variables.at("g_dacTable");
    for (auto [i, name] : {std::pair<u64, const char *>{0, "lowest"}, {1, "highest"}}) {
      t.heap.poke(t.spare + i * t.p, t.of->word(t.heap.variables.at(name)), t.p);
      t.heap.poke(table + (50 + i) * t.p, t.spare + i * t.p, t.p);
    }
    derive_bounds(t);
    t.of->expect_refused("GCLowestAddress", "2 candidates");
    EXPECT_EQ(t.of->value("GCHighestAddress"), std::nullopt);
  });
}

TEST(LayoutGcBounds, WhatTheCardTableDoesNotSayIsNone) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    t.heap.poke(t.heap.variables.at("lowest"), 0x1000, t.p);
    derive_bounds(t);
    t.of->expect_refused("GCLowestAddress", "0 candidates");
  });
}

TEST(LayoutDacTable, EntriesAreCountedFromTheOneThatIsKnown) {
  for_each_unpublished(derived_versions, [](const HeapShape &shape) {
    Gcs t(shape);
    t.of->ask({}, [&](Derivation &d) {
      DacTable table(d, t.of->gc_variable());
      EXPECT_TRUE(table.is_known());
      EXPECT_EQ(table.variable(0), t.of->gc_variable());
      EXPECT_EQ(table.variable(1), t.heap.variables.at("AppDomain"));
      EXPECT_EQ(table.variable(-4), t.heap.variables.at("ThreadStore"));
      for (Address unknown : {Address{0}, t.of->gc_variable() + 1})
        EXPECT_FALSE(DacTable(d, unknown).is_known());
      EXPECT_EQ(DacTable(d, 0).variable(0), std::nullopt);
    });
    t.heap.poke(t.heap.variables.at("g_dacTable") + 21 * t.p, 0, t.p); // behind the known one
    t.of->ask({}, [&](Derivation &d) { EXPECT_EQ(DacTable(d, t.of->gc_variable()).variable(1), std::nullopt); });
  });
}

} // namespace
} // namespace dnheap::test
