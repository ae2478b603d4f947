// Dumps of the kinds mini and triage: verbs that need the heap refuse with one sentence, the others say what there is.
// What they refuse depends on the verb, not on how much of the heap such a dump happens to hold.
#include "base/text.h"
#include "snapshot/snapshot.h"
#include "support/crashed_heap.h"
#include "support/opened.h"
#include "support/rows.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

enum class Lacks : u8 { nothing, objects, lists };

// Threads with stacks, an exception in flight, and a deadlock. The largest part of the heap is not in the dump; or not
// even the records that say where it lies.
struct Process {
  explicit Process(const HeapShape &shape, Lacks lacks) : heap(shape) {
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    young.object(heap.object_array_type, 0x4000);
    make_crashed(heap);
    if (lacks != Lacks::nothing)
      heap.hole(young.start, young.end());
    if (lacks == Lacks::lists)
      for (const SegmentWriter &segment : heap.segments)
        heap.hole(segment.structure, segment.structure + 8 * heap.p);
  }
  HeapBuilder heap;
};

std::vector<HeapShape> shapes() {
  std::vector<HeapShape> out = type_layouts();
  std::erase_if(out, [](const HeapShape &shape) { return !shape.regions; });
  return out;
}

bool says(const std::vector<std::string> &notes, std::string_view words) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string &note) { return note.find(words) != note.npos; });
}

std::vector<TextRow> rows_of(const HeapShape &shape, Lacks lacks, const char *verb, const char *table) {
  Process process(shape, lacks);
  report::Answer answer = answer_of(process.heap, verb);
  if (lacks != Lacks::nothing) {
    EXPECT_FALSE(answer.completeness->complete());
    EXPECT_NE(headline_text(answer).find("INCOMPLETE: the heap is not in this dump"), std::string::npos)
        << headline_text(answer);
    EXPECT_TRUE(says(answer.completeness->notes.sentences(), "it is of a kind without heap"));
  }
  return text_rows_of(answer, table);
}

TEST(WithoutHeap, WhatStacksAndThePiecesOfTheHeapSay) {
  struct Asked {
    const char *verb, *table;
  };
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const Asked &asked :
         {Asked{"threads", "threads"}, {"stack", "frames"}, {"exceptions", "exceptions"}, {"locks", "locks"}}) {
      SCOPED_TRACE(asked.table);
      const std::vector<TextRow> all = rows_of(shape, Lacks::nothing, asked.verb, asked.table);
      EXPECT_FALSE(all.empty());
      EXPECT_EQ(rows_of(shape, Lacks::objects, asked.verb, asked.table), all);
    }
  }
}

TEST(WithoutHeap, WhereNotEvenItsListsAreThereThreadsAre) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const char *verb : {"contract", "info", "threads", "stack", "exceptions", "locks"}) {
      SCOPED_TRACE(verb);
      Process process(shape, Lacks::lists);
      EXPECT_NO_THROW(answer_of(process.heap, verb));
    }
    std::vector<TextRow> all = rows_of(shape, Lacks::nothing, "threads", "threads"),
                         some = rows_of(shape, Lacks::lists, "threads", "threads");
    ASSERT_EQ(some.size(), all.size());
    for (u64 i = 0; i < all.size(); ++i)
      for (const char *column : {"os_id", "managed_id", "address"})
        EXPECT_EQ(some[i][column], all[i][column]);
    std::vector<TextRow> flying = rows_of(shape, Lacks::lists, "exceptions", "exceptions");
    for (const TextRow &row : flying)
      EXPECT_NE(row.at("type"), "");
  }
}

// Of a report what ended the process and where its threads are; nothing that would need objects.
TEST(WithoutHeap, AReportSaysWhatItKnows) {
  for (const HeapShape &shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (Lacks lacks : {Lacks::objects, Lacks::lists}) {
      Process process(shape, lacks);
      report::Answer answer = answer_of(process.heap, "report");
      EXPECT_FALSE(answer.completeness->complete());
      EXPECT_TRUE(answer.lead.starts_with("ended by SIGABRT on thread ")) << answer.lead;
      EXPECT_NE(answer.lead.find("\n\nThis dump holds no heap"), std::string::npos) << answer.lead;
      const std::vector<TextRow> findings = text_rows_of(answer, "findings");
      ASSERT_EQ(findings.size(), 1u);
      EXPECT_EQ(findings[0].at("kind"), "crash");
      for (const report::Table &table : answer.tables)
        EXPECT_TRUE(table.name == "findings" || table.name.starts_with("activity")) << table.name;
      EXPECT_TRUE(answer.next_command.starts_with("dnheap ")) << answer.next_command;
    }
  }
}

TEST(WithoutHeap, WhatNeedsTheHeapRefusesAlsoAfterAnAnswer) {
  const HeapShape shape;
  for (Lacks lacks : {Lacks::objects, Lacks::lists}) {
    Process process(shape, lacks);
    SnapshotOptions options;
    options.threads = 1;
    Snapshot snapshot(process.heap.target(), options);
    auto refusal = [&](const Verb &verb, const Question &question = {}) -> std::string {
      try {
        ask(verb, snapshot, question);
      } catch (const Error &e) {
        return e.what();
      }
      return "";
    };
    auto find = [](const char *name) -> const Verb & {
      return *std::find_if(verbs().begin(), verbs().end(),
                           [&](const Verb &verb) { return verb.name == std::string(name); });
    };
    u64 refused = 0;
    for (const Verb &verb : verbs()) {
      if (!verb.answer || verb.answers_without_heap || (verb.subject && !verb.subject.is_optional) || verb.makes_file ||
          verb.answer_alone)
        continue;
      SCOPED_TRACE(verb.name);
      const bool needs_heap = verb.plan({}).certain().has(Pass::heap);
      EXPECT_EQ(refusal(find("threads")), "");
      const std::string why = refusal(verb);
      EXPECT_EQ(why.empty(), !needs_heap) << why;
      if (!needs_heap)
        continue;
      ++refused;
      EXPECT_NE(why.find("of a kind without heap"), why.npos) << why;
      EXPECT_NE(why.find("; contract, info, threads, stack, exceptions and locks show what the dump holds"), why.npos)
          << why;
    }
    EXPECT_GT(refused, 10u);
    Question retained;
    retained.by = "retained";
    EXPECT_NE(refusal(find("threads"), retained).find("of a kind without heap"), std::string::npos);
  }
}

// Memory that was lost is another matter: what is left is looked at with gaps.
TEST(WithoutHeap, NotWhereTheDumpWasCutOff) {
  HeapBuilder heap({});
  SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  heap.segment(GCSegmentGeneration::gen2).object(heap.object_array_type, 0x100);
  young.object(heap.object_array_type, 0x4000);
  heap.hole(young.start, young.end());
  std::unique_ptr<Target> target = heap.target();
  EXPECT_NE(open_core_clr(*target, target->modules.at(0), tables_for_all_formats()).why_no_heap(), "");
  target->absent.push_back({young.start, young.end(), "cut off"});
  EXPECT_EQ(open_core_clr(*target, target->modules.at(0), tables_for_all_formats()).why_no_heap(), "");
}

} // namespace
} // namespace dnheap::test
