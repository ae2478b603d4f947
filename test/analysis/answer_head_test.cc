// What the first line of each answer says of the heap beside the rest of a dump.
#include "analysis/answer_head.h"
#include "analysis/question.h"
#include "analysis/verb.h"
#include "support/heap_builder.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 mib = 1 << 20;

// The first line of `verb`'s answer for a dump that has `others` bytes beside a heap of some KiB.
std::string first_line(Format format, std::string_view verb, u64 others, std::string_view container = "elf-core") {
  HeapBuilder heap({.format = format});
  heap.segment(GCSegmentGeneration::gen0).object(heap.type("Shop.Node", 2));
  std::unique_ptr<Target> target = heap.target();
  target->container = container;
  const Address at = 0x10000;
  target->mappings = {{.start = at, .end = at + 2 * others, .stored_end = at + others}};
  SnapshotOptions options;
  options.threads = 1;
  Snapshot snapshot(std::move(target), options);
  const auto row = std::find_if(verbs().begin(), verbs().end(), [&](const Verb &v) { return v.name == verb; });
  return headline_text(ask(*row, snapshot, {}));
}

TEST(AnswerHead, SaysWhereTheHeapIsASmallPartOfTheDump) {
  for (Format format : all_formats)
    for (const char *verb : {"stat", "segments", "objects", "handles"}) {
      SCOPED_TRACE(verb);
      const std::string line = first_line(format, verb, 735 * mib);
      EXPECT_NE(line.find("; the heap is "), line.npos) << line;
      EXPECT_NE(line.find(" of 735.0 MiB in this dump, "), line.npos) << line;
      EXPECT_TRUE(line.ends_with("complete")) << line;
    }
}

TEST(AnswerHead, IsSilentWhereTheRestIsWhatAnyProcessHas) {
  EXPECT_EQ(first_line({}, "stat", 200 * mib).find("in this dump"), std::string::npos);
  EXPECT_EQ(first_line({}, "stat", 735 * mib, "process").find("in this dump"), std::string::npos);
}

// A builder's runtime has no map of code, so no frame of its threads is known.
TEST(AnswerHead, SaysThatStacksAreKnownInPartOnly) {
  for (const char *name : {"locks", "threads", "stack", "handles", "stat"}) {
    SCOPED_TRACE(name);
    HeapBuilder heap({});
    heap.segment(GCSegmentGeneration::gen0).object(heap.type("Shop.Node", 2));
    heap.threads.resize(3);
    for (u32 i = 0; i < 3; ++i)
      heap.threads[i].os_id = 100 + i;
    SnapshotOptions options;
    options.threads = 1;
    Snapshot snapshot(heap.target(), options);
    const auto row =
        std::find_if(verbs().begin(), verbs().end(), [&](const Verb &v) { return v.name == std::string_view(name); });
    for (int time = 0; time < 2; ++time) { // whatever was asked before
      const report::Answer answer = ask(*row, snapshot, {});
      const bool is_said =
          std::any_of(answer.completeness->notes.begin(), answer.completeness->notes.end(), [](const Note &note) {
            return note.text.starts_with("the stack of thread 100 and of 2 others is only partly known, so methods on "
                                         "it may be missing: the place of the runtime's map of code is unknown");
          });
      const std::string_view of = name;
      EXPECT_EQ(is_said, of == "locks"); // others say more of them
      EXPECT_EQ(answer.completeness->complete(), of == "handles" || of == "stat");
    }
  }
}

} // namespace
} // namespace dnheap::test
