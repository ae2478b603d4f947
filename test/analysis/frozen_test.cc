// What lies in frozen segments is never collected: no verb calls it garbage, whether or not a root is seen to hold it,
// and all of them count it as `retained` does.
#include "analysis/verb.h"
#include "base/text.h"
#include "objects/roots.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/known_stacks.h"
#include "support/opened.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// Of one type: an object that is held, one that is garbage, and in a frozen segment one that is held and two that are
// not. All stacks are known, so that `verify` can tell what is dead.
struct Process {
  explicit Process(Format format) : heap({.format = format}) {
    const u64 p = heap.p;
    give_stacks(heap);
    Address literal = heap.method_table(
        {.base_size = static_cast<u32>(4 * p), .rid = heap.app().metadata.type("Shop", "Literal"), .series = {{p, p}}});
    SegmentWriter &old = heap.segment(G::gen2), &frozen = heap.segment(G::frozen);
    held = old.object(literal);
    garbage = old.object(literal);
    frozen_alone = frozen.object(literal);
    frozen_held = frozen.object(literal);
    frozen_bad = frozen.object(literal);
    frozen.store(frozen_bad + p, 0x10000, p);
    heap.gc.handles = {{.type = HandleType::strong, .object = held},
                       {.type = HandleType::strong, .object = frozen_held}};
  }
  HeapBuilder heap;
  Address held, garbage, frozen_alone, frozen_held, frozen_bad;
};

report::Answer ask_for(Snapshot &snapshot, const char *name, const Question &question) {
  for (const Verb &verb : verbs())
    if (std::string_view(verb.name) == name)
      return ask(verb, snapshot, question);
  throw std::logic_error("no such verb");
}

std::string text_of(Snapshot &snapshot, const char *name, const Question &question = {}) {
  std::string text;
  report::Sink sink(text);
  report::write_text(ask_for(snapshot, name, question), {}, sink);
  return text;
}

std::vector<Address> addresses(Snapshot &snapshot, const Question &question) {
  const report::Answer answer = ask_for(snapshot, "objects", question);
  std::vector<Address> out;
  report::Row row(answer.tables[0].columns.size());
  while (answer.tables[0].rows(row))
    out.push_back(*row[0].get_if<u64>());
  std::sort(out.begin(), out.end());
  return out;
}

bool says(const std::string &text, const std::string &what) { return text.find(what) != std::string::npos; }

TEST(Frozen, IsNotDead) {
  for (Format format : all_formats) {
    Process t(format);
    Snapshot snapshot(t.heap.target(), {});
    Question live, dead;
    live.life = Life::live;
    dead.life = Life::dead;
    std::vector<Address> alive = {t.held, t.frozen_held};
    std::sort(alive.begin(), alive.end());
    EXPECT_EQ(addresses(snapshot, live), alive);
    EXPECT_EQ(addresses(snapshot, dead), std::vector{t.garbage});
    EXPECT_TRUE(says(text_of(snapshot, "stat", dead), "    1   ")) << text_of(snapshot, "stat", dead);
    // What is neither is said.
    for (const Question &question : {live, dead})
      for (const char *verb : {"stat", "objects"})
        EXPECT_TRUE(says(text_of(snapshot, verb, question),
                         "2 objects (" + bytes_text(8 * t.heap.p) +
                             ") lie in frozen segments, which the GC never frees, and no known root holds "
                             "them: they count as neither alive nor dead"))
            << verb << text_of(snapshot, verb, question);
    const std::string owners = text_of(snapshot, "retained");
    EXPECT_TRUE(says(owners, "2  (frozen)")) << owners;
    EXPECT_TRUE(says(owners, "1  (unreachable)")) << owners;
  }
}

// To the GC a frozen object is alive, also as the key of a dependent handle: a literal in a ConditionalWeakTable.
TEST(Frozen, KeysOfDependentHandlesHoldTheirSecondaries) {
  for (Format format : all_formats) {
    Process t(format);
    SegmentWriter &old = *std::find_if(t.heap.segments.begin(), t.heap.segments.end(),
                                       [](const SegmentWriter &s) { return s.generation == G::gen2; });
    const Address literal = t.heap.objects.front().method_table;
    const Address value = old.object(literal), below = old.object(literal), of_garbage = old.object(literal);
    old.store(value + t.heap.p, below, t.heap.p);
    t.heap.gc.handles.push_back({.type = HandleType::dependent, .object = t.frozen_alone, .secondary = value});
    t.heap.gc.handles.push_back({.type = HandleType::dependent, .object = t.garbage, .secondary = of_garbage});
    Snapshot snapshot(t.heap.target(), {});
    Question dead;
    dead.life = Life::dead;
    std::vector<Address> wanted = {t.garbage, of_garbage};
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(addresses(snapshot, dead), wanted);
    EXPECT_TRUE(says(text_of(snapshot, "retained"), "2  handle:dependent Shop.Literal"))
        << text_of(snapshot, "retained");
    EXPECT_TRUE(says(text_of(snapshot, "retained"), "2  (unreachable)")) << text_of(snapshot, "retained");
    for (Address address : {value, below, of_garbage}) {
      Question question;
      question.subject = hex(address);
      for (const char *verb : {"show", "path"}) {
        const std::string text = text_of(snapshot, verb, question);
        EXPECT_EQ(says(text, "garbage"), address == of_garbage) << verb << "\n" << text;
        if (verb == std::string("path")) {
          EXPECT_EQ(says(text, "handle:dependent"), address != of_garbage) << text;
        }
      }
    }
  }
}

TEST(Frozen, IsShownAsWhatItIs) {
  for (Format format : all_formats) {
    Process t(format);
    Snapshot snapshot(t.heap.target(), {});
    const std::string never = "in a frozen segment, which the GC never frees";
    for (Address address : {t.frozen_alone, t.frozen_held, t.held, t.garbage}) {
      const bool frozen = address == t.frozen_alone || address == t.frozen_held;
      SCOPED_TRACE(hex(address));
      Question question;
      question.subject = hex(address);
      const std::string shown = text_of(snapshot, "show", question);
      EXPECT_EQ(says(shown, never), frozen) << shown;
      EXPECT_EQ(says(shown, "garbage"), address == t.garbage) << shown;
      EXPECT_EQ(says(shown, "would be freed"), address == t.held) << shown;
      const std::string path = text_of(snapshot, "path", question);
      EXPECT_EQ(says(path, never), address == t.frozen_alone) << path;
      EXPECT_EQ(says(path, "garbage"), address == t.garbage) << path;
    }
    Question question;
    question.subject = "Shop.Literal";
    const std::string paths = text_of(snapshot, "path", question);
    EXPECT_TRUE(says(paths, "1 of 5 instances are held by nothing: garbage")) << paths;
    EXPECT_TRUE(says(paths, "2 of 5 instances lie in frozen segments, which the GC never frees, and have no other "
                            "known holder"))
        << paths;
  }
}

TEST(Frozen, NothingIsCalledGarbageWhereRootsAreMissing) {
  for (Format format : all_formats) {
    Process t(format);
    SnapshotOptions options;
    options.hints.left_out = {"AppDomain"}; // which leads to static fields
    Snapshot snapshot(t.heap.target(), options);
    ASSERT_TRUE(snapshot.roots().notes.have_effect());
    Question question;
    question.subject = hex(t.garbage);
    const std::string may = "may be alive", sure = "it is garbage";
    for (const char *verb : {"show", "path"}) {
      const std::string text = text_of(snapshot, verb, question);
      EXPECT_TRUE(says(text, may)) << text;
      EXPECT_FALSE(says(text, sure)) << text;
    }
    question.subject = "Shop.Literal";
    const std::string paths = text_of(snapshot, "path", question);
    EXPECT_TRUE(says(paths, "1 of 5 instances are held by nothing that could be read")) << paths;
    const std::string retained = text_of(snapshot, "retained", {});
    EXPECT_TRUE(says(retained, "(unreachable): nothing that could be read holds it")) << retained;
    const std::string report = text_of(snapshot, "report", {});
    EXPECT_TRUE(says(report, "dead objects, or held by roots that could not be read")) << report;
    EXPECT_TRUE(says(report, "without a known holder")) << report;
  }
}

// A bad reference of an object that stays is a problem.
TEST(Frozen, CountsInVerify) {
  for (Format format : all_formats) {
    Process t(format);
    t.heap.segments[0].store(t.garbage + t.heap.p, 0x10000, t.heap.p);
    Snapshot snapshot(t.heap.target(), {});
    const std::string text = text_of(snapshot, "verify");
    EXPECT_TRUE(says(text, "1 PROBLEMS") && says(text, hex(t.frozen_bad))) << text;
    EXPECT_TRUE(says(text, "1 more problem in unreachable objects")) << text;
  }
}

} // namespace
} // namespace dnheap::test
