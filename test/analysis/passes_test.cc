#include "analysis/passes.h"
#include "snapshot/snapshot.h"
#include "support/heap_builder.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// Whatever pass there is, the waiting user was told of: in all verbs, with the options that cost passes.
TEST(Passes, AreAllForetold) {
  for (const Verb &verb : verbs()) {
    if (!verb.answer || verb.makes_file)
      continue;
    for (int way = 0; way < 4; ++way) {
      HeapBuilder heap({});
      Address type = heap.type("Shop.Order", 2);
      SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
      for (int i = 0; i < 100; ++i)
        old.object(type);
      heap.gc.handles = {{.type = HandleType::strong, .object = old.start}};
      std::vector<PassTime> times;
      SnapshotOptions options;
      options.watch.times = &times;
      Snapshot snapshot(heap.target(), options);
      Question question;
      const std::string_view filters = verb.filters;
      question.live = way & 1 && filters.find("live") != filters.npos;
      question.all = way & 1 && filters.find("all") != filters.npos && verb.name != std::string_view("path");
      question.closure = way & 1 && filters.find("closure") != filters.npos;
      question.tree = way & 1 && filters.find("tree") != filters.npos;
      question.min_bytes = way & 2 && filters.find("min") != filters.npos ? 1 : 0;
      if (way & 2 && std::string_view(verb.by).find("retained") != std::string_view::npos)
        question.by = "retained";
      if (verb.subject)
        question.subject = way & 2 && verb.name == std::string_view("path") ? "Shop.Order" : std::to_string(old.start);
      report::Answer answer = verb.answer(snapshot, question);
      const std::vector<std::string_view> foretold = passes_of(verb, question);
      EXPECT_FALSE(times.empty());
      for (const PassTime &time : times)
        EXPECT_NE(std::find(foretold.begin(), foretold.end(), time.name), foretold.end())
            << verb.name << " way " << way << ": " << time.name;
      EXPECT_EQ(foretold.back(), "write");
    }
  }
}

TEST(Passes, OnlyWhatTheQuestionNeeds) {
  const Verb &stat = verbs().front();
  Question question;
  question.target = "core";
  EXPECT_EQ(passes_of(stat, question),
            (std::vector<std::string_view>{"open", "module files", "runtime", "segments", "walk", "write"}));
  question.target = "core.zst";
  EXPECT_EQ(passes_of(stat, question).front(), "decompress");
  question.dead = true;
  EXPECT_EQ(passes_of(stat, question).size(), 11u);
}

} // namespace
} // namespace dnheap::test
