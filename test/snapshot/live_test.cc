// Processes that run: Snapshot::attach on a synthetic one says what the same memory says as a target, damaged or not;
// it waits for the GC, but not for ever; and memory that comes and goes meanwhile leaves gaps.
#include "analysis/verb.h"
#include "report/write.h"
#include "snapshot/attached_process.h"
#include "snapshot/snapshot.h"
#include "support/gaps.h"
#include "support/random_heap.h"
#include "support/sanitized.h"
#include "support/synthetic_process.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace dnheap::test {
namespace {

using Json = nlohmann::json;

constexpr const char *taken = "the test program's own memory lies where the process's should: chance";

// Not 8.0: what is discovered needs the threads that a builder's process has.
const HeapShape shapes[] = {
    {.net = Net::net9, .regions = false}, {.net = Net::net10}, {.net = Net::net11, .server = true, .heaps = 2}};

std::unique_ptr<Snapshot> attach(u64 pid, bool pause = true) {
  SnapshotOptions options;
  options.threads = 2;
  options.pause = pause;
  return Snapshot::attach(pid, options);
}

using Open = std::function<std::unique_ptr<Snapshot>()>;

// What the verbs that look at no thread say, or that they cannot. Errors name paths and what was there, which differ.
Json answers(const Open &open) {
  constexpr std::string_view names[] = {"stat", "segments", "objects", "gc", "handles", "verify"};
  Json out;
  for (const Verb &verb : verbs()) {
    if (std::find(std::begin(names), std::end(names), verb.name) == std::end(names))
      continue;
    try {
      std::unique_ptr<Snapshot> snapshot = open(); // each question lets the process go on
      std::string text;
      report::Sink sink(text);
      write_json(ask(verb, *snapshot, {}), {}, sink);
      Json all = Json::parse(text);
      if (std::string_view(verb.name) == "gc") { // what the child was started with is the test's own environment
        Json &problems = all["tables"]["problems"];
        for (std::size_t i = problems.size(); i--;)
          if (problems[i]["problem"].get<std::string>().find("GC settings") != std::string::npos)
            problems.erase(i);
        all["tables"].erase("settings");
      }
      out[std::string(verb.name) + " tables"] = all.value("tables", Json());
      if (std::string_view(verb.name) != "verify") // which looks at threads' stacks
        out[std::string(verb.name) + " completeness"] = all.value("completeness", Json());
    } catch (const Error &) {
      out[verb.name] = "error";
    }
  }
  return out;
}

// Where they differ first; empty: nowhere.
std::string difference(const Json &mine, const Json &theirs, const std::string &where = "") {
  if (mine == theirs)
    return "";
  if (mine.type() == theirs.type() && mine.size() == theirs.size() && mine.is_structured())
    for (auto a = mine.begin(), b = theirs.begin(); a != mine.end(); ++a, ++b)
      if (std::string found = difference(*a, *b, where + "/" + (mine.is_object() ? a.key() : "-")); !found.empty())
        return found;
  return where + ": " + mine.dump().substr(0, 1000) + "; not " + theirs.dump().substr(0, 1000);
}

bool has_note(const Snapshot &snapshot, std::string_view part) {
  const std::vector<std::string> notes = snapshot.target().notes.texts();
  return std::any_of(notes.begin(), notes.end(), [&](const std::string &note) { return note.find(part) != note.npos; });
}

TEST(Live, SaysWhatTheSameMemorySaysAsATarget) {
  std::mt19937_64 random(41);
  for (const HeapShape &shape : shapes) {
    HeapBuilder heap(shape);
    add_random_heap(heap, 300000, random);
    heap.gc.handles = {{.type = HandleType::strong, .object = heap.objects[0].address}};
    std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*heap.target());
    if (!process)
      GTEST_SKIP() << taken;
    Json theirs = answers([&] { return std::make_unique<Snapshot>(heap.target(), SnapshotOptions()); });
    EXPECT_EQ(difference(answers([&] { return attach(process->pid()); }), theirs), "");
    EXPECT_TRUE(process->goes_on());
    EXPECT_GT(theirs["objects tables"]["objects"].size(), 100u);
  }
}

// Words of the heap and of the runtime's own memory.
TEST(Live, DamageIsThatOfATarget) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 15; ++round) {
    HeapBuilder heap(shapes[round % std::size(shapes)]);
    add_random_heap(heap, 20000, random);
    heap.target(); // lays everything out
    auto any = [&](const std::vector<Address> &of) { return of[random() % of.size()]; };
    std::vector<Address> places;
    for (const WrittenObject &object : heap.objects)
      places.push_back(object.address);
    std::vector<Address> structures;
    for (const SegmentWriter &segment : heap.segments)
      structures.push_back(segment.structure);
    for (const auto &[name, address] : heap.variables)
      structures.push_back(address);
    for (int i = 0; i < 3; ++i)
      heap.poke(any(places), random() % 2 ? random() : any(places), 8);
    if (round % 2)
      heap.poke(any(structures) + random() % 8 * 8, random() % 2 ? random() : any(places), 8);
    std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*heap.target());
    if (!process)
      GTEST_SKIP() << taken;
    SCOPED_TRACE(round);
    Json theirs = answers([&] { return std::make_unique<Snapshot>(heap.target(), SnapshotOptions()); });
    EXPECT_EQ(difference(answers([&] { return attach(process->pid()); }), theirs), "");
    EXPECT_TRUE(process->goes_on());
  }
}

TEST(Live, WaitsForTheGC) {
  HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen0).string("text");
  heap.structures_invalid = 1;
  std::unique_ptr<Target> target = heap.target();
  const Address invalid = heap.variables.at("invalid_count");
  std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*target, [=, calls = 0]() mutable {
    ::usleep(1000);
    if (++calls == 40)
      *reinterpret_cast<volatile u32 *>(invalid) = 0;
  });
  if (!process)
    GTEST_SKIP() << taken;
  std::unique_ptr<Snapshot> live = attach(process->pid());
  EXPECT_FALSE(has_note(*live, "the GC was changing the heap"));
  EXPECT_EQ(live->tally().walk.objects, 1u);
}

TEST(Live, DoesNotWaitForEver) {
  HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen0).string("text");
  heap.structures_invalid = 1;
  std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*heap.target());
  if (!process)
    GTEST_SKIP() << taken;
  std::unique_ptr<Snapshot> live = attach(process->pid());
  EXPECT_TRUE(has_note(*live, "the GC was changing the heap whenever the process was stopped, "));
  live.reset();
  EXPECT_TRUE(process->goes_on());
  EXPECT_FALSE(has_note(*attach(process->pid(), false), "the GC was changing the heap")) << "nothing was stopped";
}

TEST(Live, GivesUpWhenTold) {
  HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen0).string("text");
  heap.structures_invalid = 1;
  std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*heap.target());
  if (!process)
    GTEST_SKIP() << taken;
  Progress progress;
  progress.cancel = true;
  SnapshotOptions options;
  options.watch.progress = &progress;
  EXPECT_THROW(Snapshot::attach(process->pid(), options), Interrupted);
  EXPECT_TRUE(process->goes_on());
}

// Without a pause: pages of the heap and of the runtime become unreadable and readable again, or empty, all the time.
TEST(Live, MemoryComesAndGoes) {
  std::mt19937_64 random(43);
  HeapBuilder heap({.net = Net::net9});
  add_random_heap(heap, 400000, random);
  std::unique_ptr<Target> target = heap.target();
  std::vector<Address> pages;
  for (const SegmentWriter &segment : heap.segments)
    for (Address at = segment.start / 4096 * 4096; at < segment.end(); at += 4096)
      pages.push_back(at);
  const u64 of_the_heap = pages.size();
  for (const Range &range : target->memory.ranges())
    for (Address at = align_up(range.address, 4096); at + 4096 <= range.end() && range.end() < pages[0]; at += 4096)
      pages.push_back(at);
  auto change = [pages, of_the_heap, random]() mutable {
    // Mostly the heap: without the runtime there are only errors.
    Address at = pages[random() % (random() % 64 ? of_the_heap : pages.size())];
    void *page = reinterpret_cast<void *>(at);
    if (random() % 8 == 0)
      ::madvise(page, 4096, MADV_DONTNEED);
    ::mprotect(page, 4096, PROT_NONE);
    ::usleep(20);
    ::mprotect(page, 4096, PROT_READ | PROT_WRITE);
  };
  std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*target, change);
  if (!process)
    GTEST_SKIP() << taken;
  u64 answered = 0;
  for (int round = 0; round < 24; ++round)
    try {
      std::unique_ptr<Snapshot> live = attach(process->pid(), round % 3 == 0);
      const Heap &of = live->heap();
      const HeapTally &tally = live->tally();
      EXPECT_LE(tally.walk.bytes, of.segment_bytes());
      if (round % 3 == 0) {
        EXPECT_EQ(tally.walk.bytes + of.context_bytes() + sum_of(of.gaps()) + tally.walk.gaps.bytes(),
                  of.segment_bytes());
      }
      answers([&] { return attach(process->pid(), round % 3 == 0); });
      ++answered;
    } catch (const Error &e) {
      EXPECT_GT(std::string_view(e.what()).size(), 20u) << e.what();
    }
  EXPECT_GT(answered, 0u);
  EXPECT_TRUE(process->goes_on());
}

// The process goes on at once; what was needed before is copied while it stands still, the rest is read later.
TEST(Live, ABriefStop) {
  std::mt19937_64 random(45);
  HeapBuilder heap({.net = Net::net10});
  add_random_heap(heap, 100000, random);
  std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*heap.target());
  if (!process)
    GTEST_SKIP() << taken;
  const std::unique_ptr<Snapshot> first = Snapshot::attach_briefly(process->pid(), {}, {});
  EXPECT_TRUE(process->goes_on());
  EXPECT_FALSE(first->process()->is_pausing());
  EXPECT_EQ(first->tally().walk.objects, attach(process->pid())->tally().walk.objects);
  const std::map<u64, SystemThread> &threads = first->process()->system_threads();
  ASSERT_TRUE(threads.contains(process->pid()));
  EXPECT_FALSE(threads.at(process->pid()).name.empty());
  EXPECT_FALSE(threads.at(process->pid()).is_halted);
  const std::vector<std::pair<Address, Address>> needed = first->process()->fetched();
  ASSERT_FALSE(needed.empty());
  EXPECT_TRUE(std::is_sorted(needed.begin(), needed.end()));
  const std::unique_ptr<Snapshot> second = Snapshot::attach_briefly(process->pid(), {}, needed);
  EXPECT_EQ(second->process()->fetched(), needed) << "copied before anything was asked for";
  ASSERT_TRUE(second->process()->pause_seconds());
  EXPECT_GT(*second->process()->pause_seconds(), 0);
}

// A process that ends while it is looked at, stopped (only SIGKILL does that) or not.
TEST(Live, TheProcessEnds) {
  for (bool pause : {true, false})
    for (int round = 0; round < 6; ++round) {
      std::mt19937_64 random(44);
      HeapBuilder heap({});
      add_random_heap(heap, 100000, random);
      std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*heap.target());
      if (!process)
        GTEST_SKIP() << taken;
      try {
        std::unique_ptr<Snapshot> live = attach(process->pid(), pause);
        if (round % 2)
          live->heap();
        process.reset();
        live->tally();
        live->index();
      } catch (const Error &e) {
        EXPECT_GT(std::string_view(e.what()).size(), 15u) << e.what();
      }
    }
}

TEST(Live, NoRuntimeInIt) {
  if (thread_sanitized)
    GTEST_SKIP() << taken;
  ChildProcess child(2);
  std::string said;
  try {
    attach(child.pid());
  } catch (const Error &e) {
    said = e.what();
  }
  EXPECT_TRUE(said.starts_with("process " + std::to_string(child.pid()) + ": no .NET runtime found: ")) << said;
  EXPECT_TRUE(child.goes_on());
}

// Its memory goes with it: what is missing then is no damage, and no dump of another kind.
TEST(Live, AProcessThatEndsWhileItIsRead) {
  for (bool pause : {true, false}) {
    std::mt19937_64 random(45);
    HeapBuilder heap({});
    add_random_heap(heap, 20000000, random);
    std::unique_ptr<SyntheticProcess> process = SyntheticProcess::start(*heap.target());
    if (!process)
      GTEST_SKIP() << taken;
    const std::string pid = std::to_string(process->pid());
    std::unique_ptr<Snapshot> live = attach(process->pid(), pause);
    process.reset();
    std::string said;
    try {
      ask(*std::find_if(verbs().begin(), verbs().end(),
                        [](const Verb &one) { return one.name == std::string_view("stat"); }),
          *live, {});
    } catch (const Error &e) {
      said = e.what();
    }
    EXPECT_EQ(said, "process " + pid + " ended while it was read");
  }
}

} // namespace
} // namespace dnheap::test
