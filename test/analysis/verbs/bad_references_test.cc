// A reference of a live object that leads to no object: whatever was held that way seems to be dead. Every verb that
// tells what is held says so; `verify` names the reference. What dead objects refer to says nothing.
#include "analysis/verb.h"
#include "base/text.h"
#include "snapshot/snapshot.h"
#include "support/known_stacks.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Case {
  const char *verb;
  Question question;
};

std::vector<Case> cases(Address object, Address type) {
  Question of_object, of_type, live, dead, retained, from, all;
  of_object.subject = hex(object);
  of_type.subject = hex(type);
  all = from = of_object;
  all.all = true;
  from.from = v0::Address(object);
  live.life = Life::live;
  dead.life = Life::dead;
  retained.by = "retained";
  return {{"show", of_object}, {"path", of_object}, {"path", all},    {"path", from},
          {"path", of_type},   {"retained", {}},    {"verify", {}},   {"stat", live},
          {"stat", dead},      {"stat", retained},  {"objects", dead}};
}

report::Answer answer_of(HeapBuilder &heap, const Case &asked) {
  SnapshotOptions options;
  options.threads = 2;
  Snapshot snapshot(heap.target(), options);
  for (const Verb &verb : verbs())
    if (std::string_view(verb.name) == asked.verb)
      return ask(verb, snapshot, asked.question);
  throw std::logic_error("no such verb");
}

struct BadReferences : testing::TestWithParam<Format> {
  BadReferences() : heap({.format = GetParam()}) {
    give_stacks(heap);
    const u64 p = heap.p;
    pair = heap.method_table({.base_size = static_cast<u32>(4 * p), .series = {{p, 2 * p}}});
    SegmentWriter &segment = heap.segment(GCSegmentGeneration::gen2);
    for (int i = 0; i < 4; ++i)
      pairs.push_back(segment.object(pair));
    heap.gc.handles.push_back({.type = HandleType::strong, .object = pairs[0]});
    segment.store(pairs[0] + p, pairs[1], p);
    segment.store(pairs[2] + p, 0x10000, p);
    segment.store(pairs[3] + p, pairs[0] + p, p);
  }
  void hold(Address object) { heap.segments.back().store(pairs[1] + heap.p, object, heap.p); }

  HeapBuilder heap;
  Address pair = 0;
  std::vector<Address> pairs;
};

INSTANTIATE_TEST_SUITE_P(Formats, BadReferences, testing::ValuesIn(all_formats));

TEST_P(BadReferences, OfDeadObjectsSayNothing) {
  for (const Case &asked : cases(pairs[1], pair)) {
    report::Answer answer = answer_of(heap, asked);
    EXPECT_EQ(headline_text(answer).find("NO OBJECT"), headline_text(answer).npos)
        << asked.verb << ": " << headline_text(answer);
  }
}

TEST_P(BadReferences, OfLiveObjectsAreANoteOfEveryAnswer) {
  for (u64 held : {2, 3}) { // out of the heap; into an object
    hold(pairs[held]);
    for (const Case &asked : cases(pairs[1], pair)) {
      report::Answer answer = answer_of(heap, asked);
      EXPECT_FALSE(answer.completeness->complete()) << asked.verb << ": " << headline_text(answer);
      const char *said = std::string_view(asked.verb) == "verify" ? "1 PROBLEMS" : "1 reference of a live object";
      EXPECT_NE(headline_text(answer).find(said), headline_text(answer).npos)
          << asked.verb << ": " << headline_text(answer);
    }
  }
}

// The handle that holds an object is damaged: the object looks dead, in every answer that says what is dead.
TEST_P(BadReferences, AHandleOfNoObjectIsANoteOfEveryAnswer) {
  for (Address lost : {Address{0x10000}, pairs[0] + heap.p}) { // out of the heap; into an object
    heap.gc.handles.back().object = lost;
    heap.gc.handles.push_back({.type = HandleType::strong, .object = pairs[2]});
    for (const Case &asked : cases(pairs[1], pair)) {
      report::Answer answer = answer_of(heap, asked);
      EXPECT_FALSE(answer.completeness->complete()) << asked.verb << ": " << headline_text(answer);
      std::string notes;
      for (const std::string &note : answer.completeness->notes.sentences())
        notes += note + "\n";
      EXPECT_NE(notes.find("GC handles: 1 points at no object"), std::string::npos) << asked.verb << ": " << notes;
    }
    heap.gc.handles.pop_back();
  }
}

} // namespace
} // namespace dnheap::test
