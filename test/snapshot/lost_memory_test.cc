// A dump that is cut off, or written anew, while it is open: what the file still holds is answered, the rest is a gap
// with its reason, and nothing that was read in vain counts.
#include "analysis/verb.h"
#include "base/host/mapping_faults.h"
#include "heap/object_cursor.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/core_file.h"
#include "support/gaps.h"
#include "support/random_heap.h"
#include "support/run.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

class LostMemory : public testing::Test {
protected:
  TemporaryFolder folder;
  std::string path = folder.path("a.core");
  HeapBuilder heap{{}};
  std::string core;
  SnapshotOptions options;

  void SetUp() override {
    survive_mapping_faults();
    std::mt19937_64 random(3);
    add_random_heap(heap, 40000, random);
    core = core_file(heap);
    folder.write("a.core", core);
  }
  void cut(u64 size) { std::filesystem::resize_file(path, size); }
};

std::string error_of(std::function<void()> call) {
  try {
    call();
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

u64 count(Snapshot &snapshot) {
  return on_sound_memory(snapshot, [](Snapshot &of) { return of.tally().walk.objects; });
}

bool same(const HeapTally &a, const HeapTally &b) {
  auto key = [](const HeapTally &tally) {
    std::vector<std::tuple<Address, u64, u64>> out;
    for (const TypeTally &t : tally.types)
      out.emplace_back(t.method_table, t.total().count, t.total().bytes);
    return out;
  };
  return key(a) == key(b) && a.walk.bytes == b.walk.bytes && a.walk.objects == b.walk.objects;
}

// At whatever point the file is cut, the answer is that of the file as it is then, opened afresh.
TEST_F(LostMemory, TheAnswerIsThatOfTheFileAsItIsNow) {
  u64 answers = 0, partial = 0;
  for (unsigned threads : {1u, 4u})
    for (u64 step = 1; step < 60; ++step)
      for (int built = 0; built < 3; ++built) { // nothing, the runtime, the heap
        u64 size = core.size() - step * core.size() / 60 - step % 3 * 17;
        SCOPED_TRACE(std::to_string(size) + " of " + std::to_string(core.size()) +
                     " bytes, built: " + std::to_string(built) + ", threads: " + std::to_string(threads));
        folder.write("a.core", core);
        options.threads = threads;
        auto snapshot = Snapshot::open(path, options);
        if (built == 1)
          snapshot->runtime();
        if (built == 2)
          snapshot->heap();
        cut(size);
        auto fresh = [&] { return Snapshot::open(path, options); };
        std::string fresh_error = error_of([&] { fresh()->tally(); });
        std::string error = error_of([&] { count(*snapshot); });
        EXPECT_EQ(error.empty(), fresh_error.empty()) << error << "\n" << fresh_error;
        if (!error.empty() || !fresh_error.empty())
          continue;
        const HeapTally &tally = snapshot->tally();
        const Heap &of = snapshot->heap();
        EXPECT_TRUE(same(tally, fresh()->tally()));
        EXPECT_EQ(tally.walk.bytes + of.context_bytes() + sum_of(of.gaps()) + tally.walk.gaps.bytes(),
                  of.segment_bytes());
        ++answers;
        if (of.gaps().empty())
          continue;
        ++partial;
        EXPECT_EQ(of.gaps().back().reason,
                  "cut off while it was read: " + path + " now ends at byte " + std::to_string(size));
        const std::vector<std::string> notes = snapshot->target().notes.texts();
        EXPECT_NE(std::find(notes.begin(), notes.end(), of.gaps().back().reason), notes.end());
      }
  EXPECT_GT(answers, 50u);
  EXPECT_GT(partial, 20u);
}

// Whoever asks for one thing after the other, and holds on to what there was, is told; what there was stays.
TEST_F(LostMemory, NothingIsMadeOfIt) {
  auto snapshot = Snapshot::open(path, options);
  const Heap &before = snapshot->heap();
  cut(core.size() - core.size() / 8);
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(error_of([&] { snapshot->tally(); }),
              path + ": part of the file could not be read, or was changed meanwhile; open it again");
    EXPECT_EQ(error_of([&] { snapshot->dominators(); }),
              path + ": part of the file could not be read, or was changed meanwhile; open it again");
  }
  EXPECT_EQ(&snapshot->heap(), &before);
  EXPECT_TRUE(snapshot->forget_lost_memory());
  EXPECT_EQ(error_of([&] { snapshot->tally(); }), "");
}

TEST_F(LostMemory, CutToNothing) {
  auto snapshot = Snapshot::open(path, options);
  snapshot->heap();
  cut(0);
  std::string error = error_of([&] { count(*snapshot); });
  EXPECT_EQ(error,
            path + ": cut off while it was read: " + path + " now ends at byte 0; no memory is left that can be read");
}

TEST_F(LostMemory, WrittenAnew) {
  auto snapshot = Snapshot::open(path, options);
  folder.write("a.core", core.substr(0, core.size() / 2) + std::string(core.size() - core.size() / 2, 'z'));
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_EQ(error_of([&] { count(*snapshot); }), path + ": " + path +
                                                     " was changed by somebody else while it was read; open it again "
                                                     "once nothing writes to it");
}

// While a verb puts its answer together: what it has so far is thrown away.
TEST_F(LostMemory, AVerbIsAskedAgain) {
  auto snapshot = Snapshot::open(path, options);
  static int calls;
  calls = 0;
  static std::function<void()> harm;
  harm = [&] { cut(core.size() - core.size() / 8); };
  Verb verb = verbs()[0];
  verb.answer = [](const Snapshot &of, const Question &) {
    report::Answer out;
    out.completeness.emplace();
    out.completeness->objects = of.tally().walk.objects;
    if (++calls == 1)
      harm();
    return out;
  };
  u64 objects = ask(verb, *snapshot, {}).completeness->objects;
  EXPECT_EQ(calls, 2);
  EXPECT_LT(objects, heap.objects.size());
  EXPECT_EQ(objects, Snapshot::open(path, options)->tally().walk.objects);

  // Errors that come of it too.
  calls = 0;
  harm = [&] {
    cut(core.size() - core.size() / 7);
    throw Error("read from where nothing is");
  };
  EXPECT_LT(ask(verb, *snapshot, {}).completeness->objects, objects);
  // An error for another reason is final.
  calls = 0;
  harm = [] { throw Error("no"); };
  EXPECT_EQ(error_of([&] { ask(verb, *snapshot, {}); }), "no");
  EXPECT_EQ(calls, 1);
}

TEST_F(LostMemory, MoreAndMoreIsLost) {
  auto snapshot = Snapshot::open(path, options);
  static std::function<void()> harm;
  u64 left = core.size();
  harm = [&] { cut(left -= 5000); };
  Verb verb = verbs()[0];
  verb.answer = [](const Snapshot &of, const Question &) {
    of.heap();
    harm();
    return report::Answer();
  };
  std::string error = error_of([&] { ask(verb, *snapshot, {}); });
  EXPECT_NE(error.find("more and more of it cannot be read"), std::string::npos) << error;
}

// Rows that stream are out already: the list ends, and says so.
TEST_F(LostMemory, AStreamEnds) {
  auto snapshot = Snapshot::open(path, options);
  Question question;
  const Verb *objects = nullptr;
  for (const Verb &verb : verbs())
    if (std::string_view(verb.name) == "objects")
      objects = &verb;
  report::Answer answer = ask(*objects, *snapshot, question);
  report::Row row(answer.tables[0].columns.size());
  u64 rows = 0;
  for (; rows < 10; ++rows)
    ASSERT_TRUE(answer.tables[0].rows(row));
  cut(core.size() - core.size() / 8);
  std::string text;
  report::Sink sink(text);
  std::string error = error_of([&] { report::write_text(answer, {}, sink); });
  EXPECT_TRUE(error.starts_with("the list of objects ends before 0x")) << error;
  EXPECT_NE(error.find("part of the dump was lost meanwhile: cut off while it was read: " + path), std::string::npos);
  EXPECT_NE(text.find("\nINCOMPLETE: " + error + "\n"), std::string::npos);
  // Asked again, the answer is whole again.
  EXPECT_EQ(error_of([&] {
              report::Answer again = ask(*objects, *snapshot, question);
              report::write_text(again, {}, sink);
            }),
            "");
}

// Another file's loss is no concern of this one.
TEST_F(LostMemory, TwoSnapshots) {
  auto snapshot = Snapshot::open(path, options);
  auto other = Snapshot::open(folder.write("b.core", core), options);
  ObjectCursor cursor(other->heap(), other->runtime());
  cut(core.size() / 2);
  u64 count = 0;
  while (cursor.next())
    ++count;
  EXPECT_EQ(count, heap.objects.size());
  EXPECT_FALSE(other->has_lost_memory());
  EXPECT_FALSE(other->forget_lost_memory());
  EXPECT_TRUE(snapshot->has_lost_memory());
  EXPECT_TRUE(snapshot->forget_lost_memory());
  EXPECT_FALSE(snapshot->has_lost_memory());
  EXPECT_FALSE(snapshot->forget_lost_memory());
}

} // namespace
} // namespace dnheap::test
