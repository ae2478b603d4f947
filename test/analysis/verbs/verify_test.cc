// `verify` says of everything that is wrong with a heap what it is, and where; in every format.
#include "analysis/verb.h"
#include "heap/gap_list.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/known_stacks.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

report::Answer verify(HeapBuilder &heap, bool all = false, bool verbose = false) {
  SnapshotOptions options;
  options.threads = 2;
  Snapshot snapshot(heap.target(), options);
  Question question;
  question.all = all;
  question.verbose = verbose;
  for (const Verb &verb : verbs())
    if (std::string_view(verb.name) == "verify")
      return ask(verb, snapshot, question);
  throw std::logic_error("no such verb");
}

// Address → what is said of it.
std::multimap<Address, std::string> problems_of(const report::Answer &answer) {
  std::multimap<Address, std::string> out;
  const report::Table &table = answer.tables.at(0);
  report::Row row(table.columns.size());
  while (table.rows(row))
    out.emplace(*row[0].get_if<u64>(), *row[1].get_if<std::string>());
  return out;
}

TEST(Verify, SaysWhatIsWrong) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    const u64 p = heap.p;
    Address pair = heap.method_table({.base_size = static_cast<u32>(4 * p), .series = {{p, 2 * p}}});
    SegmentWriter &first = heap.segment(G::gen2), &second = heap.segment(G::gen1), &third = heap.segment(G::gen0);
    Address free = first.free(8 * p);
    std::vector<Address> o;
    for (int i = 0; i < 8; ++i)
      o.push_back(first.object(pair));
    for (u64 i = 0; i < 4; ++i)
      heap.sync_block(o[i]);
    first.store(o[0] + p, o[1] + 1, p);
    first.store(o[0] + 2 * p, free, p);
    first.store(o[1] + p, o[2] + p, p);
    first.store(o[1] + 2 * p, 0x10000, p);
    first.store(o[2] - 4, 0, 4);
    first.store(o[4] - 4, 0x08000001, 4);
    first.store(o[5] - 4, 9, 4);
    heap.poke(o[2] - 4, 0x0c000001, 4);
    Address no_type = second.object(pair), too_large = third.string("text");
    second.store(no_type, o[0], p);
    third.store(too_large + p, 0x40000000, 4);
    std::multimap<Address, std::string> wanted = {
        {o[0], "refers to an address at which no object can begin"},
        {o[0], "refers to free space"},
        {o[1], "refers to a place in the heap where no object begins"},
        {o[1], "refers to an address outside the heap"},
        {o[2], "sync block 3 is its own, but its header does not say so"},
        {o[4], "its header names sync block 1, which is that of "},
        {o[5], "locked by thread 9, which does not exist"},
        {no_type, "is not a MethodTable"},
        {too_large, "for which there is no room"},
    };
    report::Answer answer = verify(heap);
    std::multimap<Address, std::string> found = problems_of(answer);
    ASSERT_EQ(found.size(), wanted.size());
    auto at = found.begin();
    for (const auto &[address, text] : wanted) {
      EXPECT_EQ(at->first, address) << text;
      EXPECT_NE(at->second.find(text), std::string::npos) << at->second << " instead of " << text;
      ++at;
    }
    EXPECT_NE(headline_text(answer).find("9 PROBLEMS"), std::string::npos) << headline_text(answer);
  }
}

// What a dead object refers to may be gone; a collection in the background leaves many such.
TEST(Verify, DeadObjectsHaveNoProblems) {
  for (Format format : all_formats) {
    HeapBuilder heap({.format = format});
    give_stacks(heap);
    const u64 p = heap.p;
    Address pair = heap.method_table({.base_size = static_cast<u32>(4 * p), .series = {{p, 2 * p}}});
    SegmentWriter &segment = heap.segment(G::gen2);
    Address free = segment.free(8 * p);
    std::vector<Address> o;
    for (int i = 0; i < 4; ++i)
      o.push_back(segment.object(pair));
    heap.gc.handles.push_back({.type = HandleType::strong, .object = o[0]});
    segment.store(o[0] + p, o[1], p);
    segment.store(o[2] + p, free, p);
    segment.store(o[2] + 2 * p, 0x10000, p);
    segment.store(o[3] - 4, 0x08000001, 4);
    auto totals = [](const report::Answer &answer) {
      const report::Table &table = answer.tables.at(1);
      report::Row row(table.columns.size());
      EXPECT_TRUE(table.rows(row));
      return std::pair(*row[5].get_if<u64>(), *row[7].get_if<u64>());
    };
    report::Answer answer = verify(heap);
    EXPECT_TRUE(problems_of(answer).empty());
    EXPECT_EQ(totals(answer), std::pair(u64{3}, u64{0}));
    EXPECT_NE(headline_text(answer).find("sound: all references of live objects"), std::string::npos)
        << headline_text(answer);
    ASSERT_EQ(answer.tables[0].notes.size(), 1u);
    EXPECT_EQ(answer.tables[0].notes[0].find("3 more problems in unreachable objects"), 0u)
        << answer.tables[0].notes[0];
    EXPECT_EQ(problems_of(verify(heap, false, true)).size(), 3u) << "listed when asked for";
    // As soon as it is held it counts.
    segment.store(o[1] + p, o[2], p);
    answer = verify(heap);
    EXPECT_EQ(problems_of(answer).size(), 2u);
    EXPECT_EQ(totals(answer), std::pair(u64{1}, u64{2}));
    EXPECT_NE(headline_text(answer).find("2 PROBLEMS"), std::string::npos) << headline_text(answer);
  }
}

// What a background collection frees, the dead may refer to, and a word on a stack may lead to these by chance.
TEST(Verify, WhileTheBackgroundCollectionSweepsStacksProveNothing) {
  for (Format format : all_formats)
    for (bool sweeps : {false, true}) {
      HeapBuilder heap({.format = format});
      heap.gc.background_state = sweeps ? 1 : 2;
      give_stacks(heap);
      const u64 p = heap.p;
      Address pair = heap.method_table({.base_size = static_cast<u32>(4 * p), .series = {{p, 2 * p}}});
      SegmentWriter &segment = heap.segment(G::gen2);
      Address free = segment.free(8 * p), held = segment.object(pair), chance = segment.object(pair);
      heap.gc.handles.push_back({.type = HandleType::strong, .object = held});
      heap.native.pointer(heap.threads[0].stack_pointer + 4 * p, chance);
      segment.store(held + p, free, p);
      segment.store(chance + p, free, p);
      report::Answer answer = verify(heap);
      std::multimap<Address, std::string> found = problems_of(answer);
      EXPECT_EQ(found.count(held), 1u);
      EXPECT_EQ(found.count(chance), sweeps ? 0u : 1u);
      EXPECT_NE(headline_text(answer).find(sweeps ? "; 1 PROBLEMS" : "; 2 PROBLEMS"), std::string::npos)
          << headline_text(answer);
    }
}

// While a collection plans or moves objects, what it collects is in motion: that is no damage, and none can be seen
// there.
TEST(Verify, WhatTheCollectionMovesIsNoProblem) {
  for (Format format : all_formats)
    for (bool is_planned : {true, false}) {
      HeapBuilder heap({.format = format});
      heap.structures_invalid = is_planned;
      const u64 p = heap.p;
      Address pair = heap.method_table({.base_size = static_cast<u32>(4 * p), .series = {{p, 2 * p}}});
      SegmentWriter &old = heap.segment(G::gen2), &young = heap.segment(G::gen1);
      std::vector<Address> o, y;
      for (int i = 0; i < 6; ++i) {
        o.push_back(old.object(pair));
        y.push_back(young.object(pair));
      }
      heap.sync_block(o[5]);
      // In front of y[3], over the dead y[2]: how long that is, how far the survivors move, no neighbours.
      young.store(y[3] - 4 * p, 4 * p, p);
      young.store(y[3] - 3 * p, 16 * p, p);
      young.store(y[3] - 2 * p, 0, p);
      old.store(o[0] + p, y[4] - p, p);     // where it will be
      young.store(y[4] + p, o[0] + p, p);   // half moved
      young.store(y[5] - 4, 0x08000001, 4); // names the sync block of another one
      old.store(o[1] + p, o[2] + p, p);     // into another object
      old.store(o[1] + 2 * p, 0x10001, p);  // at which no object can begin
      old.store(o[3] + p, y[0] + 1, p);
      old.store(o[4] - 4, 0x08000001, 4);
      std::multiset<Address> lasting = {o[1], o[1], o[3], o[4]}, all = {o[0], o[1], o[1], o[3], o[4], y[2], y[4], y[5]};
      auto addresses = [](const report::Answer &answer) {
        std::multiset<Address> out;
        for (const auto &[address, text] : problems_of(answer))
          out.insert(address);
        return out;
      };
      report::Answer answer = verify(heap);
      EXPECT_EQ(addresses(answer), is_planned ? lasting : all);
      EXPECT_NE(headline_text(answer).find(is_planned ? "; 4 PROBLEMS" : "; 8 PROBLEMS"), std::string::npos)
          << headline_text(answer);
      const std::vector<std::string> &notes = answer.tables[0].notes;
      EXPECT_EQ(std::count_if(notes.begin(), notes.end(),
                              [](const std::string &note) {
                                return note.find("4 more in gen0 and gen1, which the GC was") == 0;
                              }),
                is_planned);
      EXPECT_EQ(addresses(verify(heap, false, true)), all) << "listed when asked for";
    }
}

// More gaps than are kept, or listed, are counted all the same.
TEST(Verify, CountsAllGaps) {
  HeapBuilder heap({});
  Address pair = heap.type("Pair", 2);
  SegmentWriter &segment = heap.segment(G::gen2);
  const u64 gaps = GapList::most + 1000;
  for (u64 i = 0; i < gaps; ++i) {
    segment.object(pair);
    segment.zeros(heap.p);
  }
  segment.object(pair);
  report::Answer answer = verify(heap);
  EXPECT_NE(headline_text(answer).find(" in 66,536 gaps not walked"), std::string::npos) << headline_text(answer);
  EXPECT_NE(headline_text(answer).find("; 66,536 PROBLEMS"), std::string::npos) << headline_text(answer);
  const std::vector<std::string> notes = answer.completeness->notes.sentences();
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string &note) {
    return note.find("56,536 more gaps, after ") == 0 && note.ends_with(" are not listed");
  }));
  EXPECT_TRUE(std::none_of(notes.begin(), notes.end(),
                           [](const std::string &note) { return note.find("does not close") != note.npos; }));
  EXPECT_NE(report::unsaid(answer).find("519.8 KiB in 66,536 gaps not walked"), std::string::npos)
      << report::unsaid(answer);
}

TEST(Verify, SaysWhatItCannotCheck) {
  HeapBuilder heap({.net = Net::net8});
  heap.sync_block(heap.segment(G::gen2).object(heap.object_type));
  auto notes = [&] {
    report::Answer answer = verify(heap);
    u64 count = 0;
    for (const std::string &note : answer.completeness->notes.sentences())
      count += note.find("not checked: objects' sync blocks") == 0;
    return count;
  };
  EXPECT_EQ(notes(), 0u);
  heap.poke(heap.variables.at("SyncTable"), 0, heap.p);
  EXPECT_EQ(notes(), 1u);
}

TEST(Verify, ChecksTheGraphWhenAskedTo) {
  HeapBuilder heap({});
  const u64 p = heap.p;
  Address pair = heap.method_table({.base_size = static_cast<u32>(4 * p), .series = {{p, 2 * p}}});
  SegmentWriter &segment = heap.segment(G::gen2);
  Address a = segment.object(pair), b = segment.object(pair);
  segment.store(a + p, b, p);
  segment.store(b + p, a, p);
  heap.gc.handles.push_back({.type = HandleType::strong, .object = a});
  EXPECT_EQ(verify(heap).tables.size(), 2u);
  report::Answer answer = verify(heap, true);
  ASSERT_EQ(answer.tables.size(), 3u);
  EXPECT_EQ(answer.tables[2].name, "invariants");
  EXPECT_EQ(answer.tables[2].row_count, 12u);
  EXPECT_NE(headline_text(answer).find("sound: all 2 references"), std::string::npos) << headline_text(answer);
}

} // namespace
} // namespace dnheap::test
