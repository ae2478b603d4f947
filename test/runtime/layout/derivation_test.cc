// How one value is chosen: what is published, with a doubt where memory refutes it, else the only candidate that
// passes, else a table's; two that differ are none. And what the tables look like, what never changes, what is left
// out.
#include "runtime/layout/derivation.h"
#include "runtime/layout/object.h"
#include "runtime/layout/unpublished.h"
#include "support/refound.h"

namespace dnheap::test {
namespace {

// A structure of the runtime's, of which one word is looked for.
struct Choice {
  explicit Choice(const HeapShape &shape) : heap(shape), p(static_cast<i64>(heap.p)) {
    at = heap.native.words(std::vector<u64>(16));
    heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
    of.emplace(heap);
  }
  // Which words hold 7; one that is not in the dump cannot be told.
  bool choose(const std::vector<u64> &sevens, const std::vector<ShippedTable> &tables = {},
              std::optional<i64> published = {}, bool all_agree = false) {
    for (u64 i = 0; i < 16; ++i)
      heap.poke(at + i * heap.p, 0, heap.p);
    for (u64 word : sevens)
      heap.poke(at + word * heap.p, 7, heap.p);
    target = heap.target();
    descriptor = {};
    if (published)
      descriptor.set_field("Some", "Field", *published, Origin::published);
    Derivation d(*target, target->modules.at(0), descriptor, tables);
    auto passes = [&](i64 x) -> Verdict {
      std::optional<u64> word = d.word(at + static_cast<u64>(x));
      return word ? Verdict(*word == 7) : Verdict::cannot_tell();
    };
    Derivation::Answers answers;
    if (all_agree)
      answers = [](i64) { return std::vector<u64>{1}; };
    return d.choose(
        "Some", "Field", [&] { return Derivation::offsets(0, 8 * p, p); }, passes, "is seven", answers);
  }
  ShippedTable table(i64 offset, u64 pointer_size = 0) const {
    return {"a table", static_cast<unsigned>(pointer_size ? pointer_size : heap.p), {{"Some.Field", offset}}};
  }
  void expect(i64 word, Origin origin) const {
    ASSERT_TRUE(descriptor.find_field("Some", "Field"));
    EXPECT_EQ(descriptor.offset("Some", "Field"), word * p);
    EXPECT_EQ(descriptor.find_field("Some", "Field")->origin, origin);
    EXPECT_TRUE(descriptor.missing.empty());
  }
  void expect_none(const std::string &words) const {
    EXPECT_FALSE(descriptor.find_field("Some", "Field"));
    ASSERT_TRUE(descriptor.missing.contains("Some.Field"));
    EXPECT_NE(descriptor.missing.at("Some.Field").find(words), std::string::npos)
        << descriptor.missing.at("Some.Field");
  }

  HeapBuilder heap;
  const i64 p;
  Address at = 0;
  std::optional<Refound> of;
  std::unique_ptr<Target> target;
  ContractDescriptor descriptor;
};

template <class Visit> void with_choice(Visit visit) {
  for_each_unpublished({Net::net9}, [&](const HeapShape &shape) {
    Choice choice(shape);
    visit(choice);
  });
}

TEST(Derivation, TheOnlyCandidateThatPasses) {
  with_choice([](Choice &c) {
    EXPECT_TRUE(c.choose({3}));
    c.expect(3, Origin::discovered);
  });
}

TEST(Derivation, TwoThatDifferAreNoneTwoThatAgreeAreTheFirst) {
  with_choice([](Choice &c) {
    EXPECT_FALSE(c.choose({3, 5}));
    c.expect_none("discovered " + std::to_string(3 * c.p) + ", " + std::to_string(5 * c.p));
    EXPECT_TRUE(c.choose({3, 5}, {}, {}, true));
    c.expect(3, Origin::discovered);
  });
}

TEST(Derivation, NoneThatPassesIsSaid) {
  with_choice([](Choice &c) {
    EXPECT_FALSE(c.choose({}));
    c.expect_none("discovered none; tables none; exactly one must pass: is seven");
  });
}

// That a test of ours fails may be for what it takes for granted.
TEST(Derivation, WhatIsPublishedStaysAndIsDoubtedWhereMemoryRefutesIt) {
  with_choice([](Choice &c) {
    EXPECT_TRUE(c.choose({3, 10}, {}, 10 * c.p)); // beyond the search
    c.expect(10, Origin::published);
    EXPECT_TRUE(c.descriptor.doubted.empty());
    EXPECT_TRUE(c.choose({3}, {}, 10 * c.p));
    c.expect(10, Origin::published);
    EXPECT_EQ(c.descriptor.doubted.at("Some.Field"), "published " + std::to_string(10 * c.p) + ", discovered " +
                                                         std::to_string(3 * c.p) +
                                                         "; the published one fails the test: is seven");
    c.heap.hole(c.at + 12 * c.heap.p, c.at + 13 * c.heap.p);
    EXPECT_TRUE(c.choose({3}, {}, 12 * c.p)); // cannot be told
    c.expect(12, Origin::published);
    EXPECT_TRUE(c.descriptor.doubted.empty());
  });
}

// A table is asked only where nothing is discovered, and what it says has to pass as well.
TEST(Derivation, TablesAreTheLastHint) {
  with_choice([](Choice &c) {
    EXPECT_TRUE(c.choose({12}, {c.table(11 * c.p), c.table(12 * c.p)}));
    c.expect(12, Origin::table);
    EXPECT_TRUE(c.choose({3, 12}, {c.table(12 * c.p)}));
    c.expect(3, Origin::discovered);
    EXPECT_FALSE(c.choose({3, 5}, {c.table(3 * c.p)}));
    EXPECT_FALSE(c.choose({}, {c.table(12 * c.p)}));
    c.expect_none("tables " + std::to_string(12 * c.p));
    EXPECT_FALSE(c.choose({12}, {c.table(12 * c.p, c.heap.p == 8 ? 4 : 8)}));
    c.expect_none("tables none");
  });
}

TEST(Derivation, RoomIsWhatTheAllocatorSays) {
  with_choice([](Choice &c) {
    const u64 p = c.heap.p;
    auto room = [&](u64 size, u64 next) {
      c.heap.poke(c.at + p, size * p | 1, p); // in front of a structure at word 2
      c.heap.poke(c.at + (1 + size) * p, next * p | 1, p);
      c.heap.poke(c.at + (1 + size + next) * p, 64 * p | 1, p);
      c.target = c.heap.target();
      ContractDescriptor nothing;
      return Derivation(*c.target, c.target->modules.at(0), nothing, {}).room(c.at + 2 * p, 1000) / p;
    };
    EXPECT_EQ(room(6, 4), 5u);
    EXPECT_EQ(room(5, 4), 1000 / p); // no size of a piece
  });
}

TEST(ShippedTables, LinesAndWhatIsNone) {
  ShippedTable table = parse_shipped_table("t", "# a build\npointer_size 4\n\n  Thread.Id 12 # why\r\nA.B -8");
  EXPECT_EQ(table.pointer_size, 4u);
  EXPECT_EQ(table.values.at("Thread.Id"), 12);
  EXPECT_EQ(table.values.at("A.B"), -8);
  for (const char *text : {"Thread.Id", "Thread.Id 12x", "Thread.Id x", "Thread.Id 12 13"})
    EXPECT_THROW(parse_shipped_table("t", text), Error) << text;
  EXPECT_FALSE(shipped_tables().empty());
}

TEST(LayoutObject, WhatNeverChangesIsEnteredKeptAndElseRefused) {
  for (u64 p : {u64{4}, u64{8}}) {
    ContractDescriptor d;
    derive_object(d, p);
    EXPECT_EQ(d.try_offset("Object", "m_pMethTab"), i64{0});
    EXPECT_EQ(d.try_offset("Array", "m_NumComponents"), static_cast<i64>(p));
    EXPECT_EQ(d.try_offset("String", "m_FirstChar"), static_cast<i64>(p) + 4);
    EXPECT_EQ(d.find_field("String", "m_FirstChar")->origin, Origin::discovered);
    ContractDescriptor published;
    published.set_field("String", "m_FirstChar", static_cast<i64>(p) + 4, Origin::published);
    derive_object(published, p);
    EXPECT_EQ(published.find_field("String", "m_FirstChar")->origin, Origin::published);
    published.set_field("String", "m_FirstChar", static_cast<i64>(p) + 8, Origin::published);
    EXPECT_THROW(derive_object(published, p), Error);
  }
}

TEST(LayoutUnpublished, OfAPublishedGcWhatItLeavesOutIsSaid) {
  ContractDescriptor d;
  d.contract_origin["GC"] = Origin::discovered;
  record_unpublished(d);
  EXPECT_TRUE(d.missing.empty());
  d.contract_origin["GC"] = Origin::published;
  d.set_number("GCLowestAddress", 1, true, Origin::published);
  record_unpublished(d);
  EXPECT_FALSE(d.missing.contains("GCLowestAddress"));
  for (const char *name : {"GCHighestAddress", "HeapSegment.BackgroundAllocated", "GCHeapFinalizeQueue"})
    EXPECT_TRUE(d.missing.contains(name)) << name;
  EXPECT_FALSE(d.missing.contains("GCHeap.FinalizeQueue"));
}

// Who publishes one of a family publishes all that a reader needs of it, or an answer lacks something.
TEST(LayoutUnpublished, OfAFamilyWhatIsLeftOutIsSaid) {
  ContractDescriptor d;
  record_unpublished(d);
  EXPECT_TRUE(d.missing.empty());
  d.set_field("ContinuationObject", "Next", 8, Origin::published);
  d.set_field("SyncBlock", "Lock", 8, Origin::published);
  record_unpublished(d);
  EXPECT_TRUE(d.missing.empty());
  d.contract_origin["GC"] = Origin::published;
  record_unpublished(d);
  for (const char *name : {"ContinuationObject.State", "AsyncResumeInfo.DiagnosticIP", "SyncBlock.ThinLock"})
    EXPECT_TRUE(d.missing.contains(name)) << name;
  EXPECT_FALSE(d.missing.contains("ContinuationObject.Next"));
  EXPECT_FALSE(d.missing.contains("LoaderHeap.FirstBlock"));
}

TEST(LayoutUnpublished, WhatIsLeftOutIsNotThere) {
  ContractDescriptor d;
  d.set_field("Thread", "Id", 8, Origin::published);
  d.set_field("Thread", "OSId", 16, Origin::published);
  d.set_number("Heaps", 1, true, Origin::published);
  const std::string out[] = {"Thread.Id", "Heaps", "No.Such"};
  leave_out(d, out);
  EXPECT_FALSE(d.find_field("Thread", "Id"));
  EXPECT_TRUE(d.find_field("Thread", "OSId"));
  EXPECT_FALSE(d.find_global("Heaps"));
  EXPECT_EQ(d.missing.at("Thread.Id"), "left out");
}

} // namespace
} // namespace dnheap::test
