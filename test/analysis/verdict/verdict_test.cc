// Each rule of the verdict, on figures that just are that case and on figures that just are not.
#include "analysis/verdict/verdict.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 mib = u64{1} << 20;

// A process of which nothing is wrong.
VerdictFacts healthy() {
  VerdictFacts f;
  f.process = 400 * mib, f.heap = 100 * mib, f.live = 60 * mib, f.dead = 20 * mib;
  f.free_inside = 10 * mib, f.gc_empty = 10 * mib, f.malloc_in_use = 30 * mib, f.malloc_free = 5 * mib;
  f.stacks = 40 * mib, f.threads = 40;
  f.suspect = f.largest = 13 * mib, f.suspect_elements = 5000;
  f.suspect_way = "static Shop.Cache._items", f.suspect_text = "List<Order>: 5,000 × Shop.Order";
  return f;
}

void expect(const char *rule, void (*change)(VerdictFacts &)) {
  VerdictFacts f = healthy();
  change(f);
  const MemoryVerdict verdict = judge(f).front();
  EXPECT_EQ(verdict.rule, rule) << verdict.text;
  EXPECT_FALSE(verdict.text.empty());
}

TEST(Verdict, NothingIsWrong) {
  expect("nothing", [](VerdictFacts &) {});
  EXPECT_EQ(judge({}).front().rule, "nothing"); // a dump that holds nothing
}

// What the program does comes first: who looks at a hang needs no figures of the heap.
TEST(Verdict, WhatItDoesIsSaidWhereNothingIsWrong) {
  VerdictFacts f = healthy();
  f.activity = "4 threads wait for a lock in Shop.Buy; if the program hangs, begin there.";
  EXPECT_EQ(judge(f).front().text,
            "4 threads wait for a lock in Shop.Buy; if the program hangs, begin there. No memory problem: 60.0 MiB "
            "live, 20.0 MiB garbage, 100.0 MiB committed by the GC.");
  f.waste = 54 * mib, f.waste_text = "1 × Dictionary<Int64, Guid>, less than a third full, in static Shop.S.map";
  EXPECT_TRUE(judge(f).front().text.starts_with("90 % of live memory (54.0 MiB) is waste: 1 × Dictionary<Int64, Guid>, "
                                                "less than a third full, in static Shop.S.map. 4 threads wait "))
      << judge(f).front().text;
}

// Collections that double have some; a third of all is worth advice, though no finding.
TEST(Verdict, RoomThatNothingUses) {
  VerdictFacts f = healthy();
  f.waste = f.room = 20 * mib, f.room_text = "8 × MemoryStream, room that nothing uses, in Shop.Reports.Body";
  EXPECT_EQ(judge(f).front().rule, "nothing");
  EXPECT_TRUE(judge(f).front().text.starts_with("33 % of live memory (20.0 MiB) is unused room: 8 × MemoryStream, room "
                                                "that nothing uses, in Shop.Reports.Body. A capacity that fits, "))
      << judge(f).front().text;
  f.waste = f.room = 15 * mib;
  EXPECT_EQ(judge(f).front().text.find("unused room"), std::string::npos);
}

TEST(Verdict, ArraysThatAPoolKeeps) {
  expect("pooled_arrays", [](VerdictFacts &f) { f.pooled = 30 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.pooled = 30 * mib - 1; });
  VerdictFacts f = healthy();
  f.live = f.pooled = 112 * mib, f.pooled_arrays = 28, f.pooled_by = "ArrayPool<Byte>.Shared";
  EXPECT_EQ(judge(f).front().text,
            "ArrayPool<Byte>.Shared keeps 28 arrays (112.0 MiB, 100 % of live memory) that nobody rents now.");
  EXPECT_TRUE(judge(f).front().is_size_alone);
}

TEST(Verdict, OneOwner) {
  expect("one_owner", [](VerdictFacts &f) { f.suspect = 18 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.suspect = 18 * mib - 1; }); // less than 30 %
  expect("nothing", [](VerdictFacts &f) { f.suspect = 18 * mib, f.suspect_elements = 99; });
  expect("nothing", [](VerdictFacts &f) { f.live = 20 * mib, f.suspect = 16 * mib - 1; }); // too little to matter
  VerdictFacts f = healthy();
  f.suspect = 30 * mib;
  EXPECT_EQ(judge(f).front().text,
            "50 % of live memory (30.0 MiB) is held by static Shop.Cache._items: List<Order>: 5,000 × Shop.Order. That "
            "matters only if it grows, which dnheap diff of two dumps shows.");
  EXPECT_TRUE(judge(f).front().is_size_alone); // a table that was loaded once looks the same
  EXPECT_FALSE(judge(healthy()).front().is_size_alone);
}

// The runtime's timers, say, have it.
TEST(Verdict, OneHolder) {
  expect("one_holder", [](VerdictFacts &f) { f.holder = 48 * mib, f.holder_elements = least_elements; });
  expect("nothing", [](VerdictFacts &f) { f.holder = 48 * mib - 1, f.holder_elements = 5000; }); // less than 80 %
  expect("nothing", [](VerdictFacts &f) { f.holder = 48 * mib, f.holder_elements = least_elements - 1; });
  expect("nothing", [](VerdictFacts &f) { f.live = 8 * mib, f.holder = 8 * mib - 1, f.holder_elements = 5000; });
  expect("one_owner", [](VerdictFacts &f) { f.suspect = f.holder = 60 * mib, f.holder_elements = 5000; });
  expect("one_holder", [](VerdictFacts &f) { f.holder = 60 * mib, f.holder_elements = 5000, f.copies = 36 * mib - 1; });
  expect("duplicate_data", [](VerdictFacts &f) { f.holder = 60 * mib, f.holder_elements = 5000, f.copies = 36 * mib; });
  VerdictFacts f = healthy();
  f.holder = 57 * mib, f.holder_text = "the runtime's timers: 5,000 × TimerQueueTimer", f.holder_elements = 5000;
  EXPECT_EQ(judge(f).front().text,
            "95 % of live memory (57.0 MiB) is held by the runtime's timers: 5,000 × TimerQueueTimer. That matters "
            "only if it grows, which dnheap diff of two dumps shows.");
  f.holder_elements = 1; // a large buffer is no finding, but is said
  EXPECT_EQ(judge(f).front().text,
            "Nothing shows that this is too much: 60.0 MiB live, 95 % held by the runtime's timers: 5,000 × "
            "TimerQueueTimer; one dump cannot show growth. 20.0 MiB garbage, 100.0 MiB committed by the GC. If the "
            "program hangs, the verbs threads, locks and async show why.");
  f.waste = 54 * mib, f.waste_text = "5,000 × Byte[], duplicates, in Shop.Order.Body";
  EXPECT_EQ(judge(f).front().text, // not "nothing shows that this is too much"
            "90 % of live memory (54.0 MiB) is waste: 5,000 × Byte[], duplicates, in Shop.Order.Body. 60.0 MiB live, "
            "20.0 MiB garbage, 100.0 MiB committed by the GC. 95 % of live memory is held by the runtime's timers: "
            "5,000 × TimerQueueTimer. If the program hangs, the verbs threads, locks and async show why.");
  f.copies = 54 * mib, f.copies_text = f.waste_text;
  EXPECT_EQ(
      judge(f).front().text,
      "Duplicate data: 90 % of live memory (54.0 MiB) are copies of other objects: 5,000 × Byte[], duplicates, in "
      "Shop.Order.Body. Sharing equal objects would save these bytes. They are held by the runtime's timers: "
      "5,000 × TimerQueueTimer.");
}

// Several, each of them too small to be the one.
TEST(Verdict, FewOwners) {
  expect("few_owners", [](VerdictFacts &f) { f.large_suspects = 4, f.large_suspects_bytes = 36 * mib; });
  expect("few_owners", [](VerdictFacts &f) { f.large_suspects = 2, f.large_suspects_bytes = 36 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.large_suspects = 4, f.large_suspects_bytes = 36 * mib - 1; }); // under 60 %
  expect("nothing", [](VerdictFacts &f) { f.large_suspects = 1, f.large_suspects_bytes = 36 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.large_suspects = 6, f.large_suspects_bytes = 60 * mib; });
  expect("nothing", [](VerdictFacts &f) { // too little to matter
    f.live = 40 * mib, f.suspect = 0, f.large_suspects = 3, f.large_suspects_bytes = 32 * mib - 1;
  });
  expect("one_owner",
         [](VerdictFacts &f) { f.suspect = 18 * mib, f.large_suspects = 4, f.large_suspects_bytes = 50 * mib; });
  expect("duplicate_data",
         [](VerdictFacts &f) { f.copies = 36 * mib, f.large_suspects = 4, f.large_suspects_bytes = 50 * mib; });
  VerdictFacts f = healthy();
  f.large_suspects = 2, f.large_suspects_bytes = 45 * mib;
  f.large_suspects_text = "static Shop.A.all (40 %), static Shop.B.all (35 %)";
  EXPECT_EQ(judge(f).front().text,
            "75 % of live memory is held by 2 owners: static Shop.A.all (40 %), static Shop.B.all (35 %). One dump "
            "does not show which of them grow: dnheap diff of two dumps does.");
  EXPECT_TRUE(judge(f).front().is_size_alone);
}

TEST(Verdict, ManyOwners) {
  expect("many_owners", [](VerdictFacts &f) { f.live = 200 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.live = 200 * mib - 1; });
  expect("nothing", [](VerdictFacts &f) { f.live = 200 * mib, f.largest = 40 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.live = 200 * mib, f.holder = 40 * mib; }); // the runtime, say, holds much
}

// The same bytes as those of one owner, but more is known of them.
TEST(Verdict, WhatAnOwnerHasTooManyOf) {
  expect("contexts_cannot_unload", [](VerdictFacts &f) { f.suspect = 18 * mib, f.suspect_contexts = 1; });
  expect("contexts_cannot_unload",
         [](VerdictFacts &f) { f.suspect = 18 * mib, f.suspect_contexts = 1, f.suspect_elements = 20; });
  expect("nothing", [](VerdictFacts &f) { f.suspect = 18 * mib - 1, f.suspect_contexts = 1; });
  expect("http_clients", [](VerdictFacts &f) { f.suspect = 18 * mib, f.suspect_http_clients = 100; });
  expect("one_owner", [](VerdictFacts &f) { f.suspect = 18 * mib, f.suspect_http_clients = 99; });
  expect("nothing", [](VerdictFacts &f) { f.suspect = 18 * mib - 1, f.suspect_http_clients = 100; });
  expect("db_connections", [](VerdictFacts &f) { f.suspect = 18 * mib, f.suspect_db_connections = 100; });
  expect("one_owner", [](VerdictFacts &f) { f.suspect = 18 * mib, f.suspect_db_connections = 99; });
  expect("nothing", [](VerdictFacts &f) { f.suspect = 18 * mib - 1, f.suspect_db_connections = 100; });
  VerdictFacts f = healthy();
  f.suspect = 30 * mib, f.suspect_http_clients = 400, f.http_clients_field = "Shop.Call._client";
  EXPECT_EQ(judge(f).front().text,
            "400 HttpClients, each with connections of its own, are held by Shop.Call._client: one shared HttpClient, "
            "or IHttpClientFactory, is enough. 50 % of live memory is held by static Shop.Cache._items: List<Order>: "
            "5,000 × Shop.Order.");
}

TEST(Verdict, DuplicateData) {
  expect("duplicate_data", [](VerdictFacts &f) { f.copies = 24 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.copies = 24 * mib - 1; }); // less than 40 %
  expect("nothing", [](VerdictFacts &f) { f.live = 20 * mib, f.suspect = 0, f.copies = 16 * mib - 1; });
  // Whoever holds them, and however many there are of them, if they are most.
  expect("duplicate_data", [](VerdictFacts &f) { f.copies = 36 * mib, f.suspect = 60 * mib; });
  expect("one_owner", [](VerdictFacts &f) { f.copies = 36 * mib - 1, f.suspect = 60 * mib; });
  expect("duplicate_data", [](VerdictFacts &f) { f.live = 200 * mib, f.copies = 80 * mib; });
}

TEST(Verdict, DeadObjects) {
  expect("dead_objects", [](VerdictFacts &f) { f.dead = 60 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.dead = 60 * mib - 1; });
  expect("nothing", [](VerdictFacts &f) { f.dead = 60 * mib, f.knows_all_roots = false; });
  expect("nothing", [](VerdictFacts &f) { f.live = mib, f.suspect = 0, f.dead = 32 * mib - 1; });
}

TEST(Verdict, Finalizers) {
  expect("finalizers", [](VerdictFacts &f) { f.finalizers = 18 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.finalizers = 18 * mib - 1; });
  expect("finalizers", [](VerdictFacts &f) {
    f.live = 2 * mib, f.finalizers = mib, f.finalizer_objects = 1000,
    f.finalizer_place = "waits in Shop.Handle.Finalize";
  });
  VerdictFacts f = healthy();
  f.finalizers = 30 * mib, f.finalizer_objects = 5000, f.finalizers_text = "5,000 × Shop.Handle, 6.0 KiB each";
  EXPECT_EQ(judge(f).front().text,
            "5,000 objects wait for their finalizer and hold 30.0 MiB, most of it 5,000 × Shop.Handle, "
            "6.0 KiB each: the finalizer thread does not keep up, or is blocked.");
  f.finalizer_place = "waits for an event in Shop.Handle.Finalize";
  EXPECT_TRUE(judge(f).front().text.ends_with(": the finalizer thread waits for an event in Shop.Handle.Finalize."));
}

TEST(Verdict, Fragmentation) {
  expect("fragmentation", [](VerdictFacts &f) { f.free_inside = 60 * mib, f.pinned = 7; });
  expect("nothing", [](VerdictFacts &f) { f.free_inside = 53 * mib; });
  auto small = [](VerdictFacts &f) { f.live = f.dead = mib, f.suspect = f.largest = 0, f.free_inside = 16 * mib; };
  VerdictFacts at_pins = healthy(); // holes beside many pinned objects count from 16 MiB on
  small(at_pins);
  at_pins.pinned = least_elements, at_pins.free_beside_pinned = 8 * mib;
  EXPECT_EQ(judge(at_pins).front().rule, "fragmentation");
  VerdictFacts few_pins = at_pins, elsewhere = at_pins, few_bytes = at_pins;
  few_pins.pinned = least_elements - 1;
  elsewhere.free_beside_pinned = 8 * mib - 1;
  few_bytes.free_inside = 16 * mib - 1;
  for (const VerdictFacts &fine : {few_pins, elsewhere, few_bytes})
    EXPECT_EQ(judge(fine).front().rule, "nothing");
  VerdictFacts f = healthy();
  f.free_inside = 80 * mib, f.pinned = 7, f.beside_holes = "1,500 holes beside Byte[], pinned (handle:pinned)";
  EXPECT_EQ(judge(f).front().text,
            "Fragmentation: 80.0 MiB of the heap's 160.0 MiB are holes between objects: 1,500 holes beside "
            "Byte[], pinned (handle:pinned); 7 pinned objects cannot be moved.");
}

TEST(Verdict, FragmentationOfLargeObjects) {
  VerdictFacts f = healthy();
  f.free_inside = 80 * mib, f.free_in_loh = 40 * mib, f.pinned = 1; // one pinned object is no reason
  EXPECT_EQ(judge(f).front().text, "Fragmentation: 80.0 MiB of the heap's 160.0 MiB are holes between objects.");
  f.free_in_loh += 1;
  EXPECT_EQ(judge(f).front().text,
            "Fragmentation: 80.0 MiB of the heap's 160.0 MiB are holes between objects. They are in the large object "
            "heap, which the GC does not compact by itself: use large arrays again (ArrayPool), or set "
            "GCSettings.LargeObjectHeapCompactionMode.");
}

// Libraries and stacks would hide what native code holds in a small process. It is no fault by itself.
TEST(Verdict, NativeMemoryOfASmallProcess) {
  VerdictFacts f = healthy();
  f.process = 140 * mib, f.files = 87 * mib, f.stacks = 7 * mib, f.heap = f.live = mib, f.dead = 0;
  f.suspect = f.largest = f.free_inside = f.gc_empty = 0;
  f.malloc_in_use = 24 * mib;
  EXPECT_EQ(judge(f).front().rule, "mostly_native");
  EXPECT_TRUE(judge(f).front().is_size_alone);
  EXPECT_EQ(judge(f).front().text,
            "Not the managed heap: native code holds 24.0 MiB from malloc, 17 % of the process; the GC's heap takes "
            "1.0 MiB.");
  f.malloc_in_use = 24 * mib - 1;
  EXPECT_EQ(judge(f).front().rule, "nothing");
  f.malloc_in_use = 24 * mib, f.files = 84 * mib; // less than half of what it asked for
  EXPECT_EQ(judge(f).front().rule, "nothing");
  f.files = 87 * mib, f.heap = 24 * mib;
  EXPECT_EQ(judge(f).front().rule, "nothing");
}

TEST(Verdict, EmptyMemory) {
  expect("gc_holds_empty_memory", [](VerdictFacts &f) { f.heap = 160 * mib, f.gc_empty = 80 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.heap = 160 * mib, f.gc_empty = 80 * mib - 1; });
}

TEST(Verdict, NativeMemory) {
  expect("native", [](VerdictFacts &f) { f.malloc_in_use = 160 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.malloc_in_use = 160 * mib - 1; });
  expect("nothing", [](VerdictFacts &f) { f.malloc_in_use = 160 * mib, f.heap = 160 * mib; });
  expect("other_allocator", [](VerdictFacts &f) {
    f.other_allocators = "jemalloc (libjemalloc.so.2)";
    f.perhaps_theirs = 160 * mib;
  });
  expect("nothing", [](VerdictFacts &f) { f.perhaps_theirs = 160 * mib; });
  expect("malloc_keeps_freed_memory", [](VerdictFacts &f) { f.malloc_free = 160 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.malloc_free = 160 * mib - 1; });
}

TEST(Verdict, Threads) {
  expect("threads", [](VerdictFacts &f) { f.threads = 500, f.stacks = 120 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.threads = 499, f.stacks = 120 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.threads = 500, f.stacks = 120 * mib - 1; });
  VerdictFacts f = healthy();
  f.threads = 700, f.stacks = 150 * mib, f.threads_place = "690 of them sleep in Shop.Poller.Run";
  EXPECT_TRUE(judge(f).front().text.ends_with(" of the process; 690 of them sleep in Shop.Poller.Run."))
      << judge(f).front().text;
}

TEST(Verdict, DeepStacks) {
  expect("deep_stacks", [](VerdictFacts &f) { f.stacks_in_use = 100 * mib; });
  expect("nothing", [](VerdictFacts &f) { f.stacks_in_use = 100 * mib - 1; });
  expect("nothing", [](VerdictFacts &f) { f.process = 200 * mib, f.stacks_in_use = 64 * mib - 1; });
  VerdictFacts f = healthy();
  f.threads = 180, f.stacks = 360 * mib, f.stacks_in_use = 180 * mib,
  f.threads_place = "180 of them sleep in Shop.Deep";
  EXPECT_EQ(judge(f).front().text,
            "Not the managed heap: what 180 threads have on their stacks takes 180.0 MiB, 45 % of "
            "the process (1.0 MiB for each thread); 180 of them sleep in Shop.Deep.");
  EXPECT_TRUE(judge(f).front().is_size_alone);
}

TEST(Verdict, LittleIsAlive) {
  VerdictFacts f = healthy();
  f.live = mib, f.suspect = f.largest = 0, f.dead = 60 * mib;
  EXPECT_EQ(judge(f).front().text,
            "Little is alive: 98 % of the objects (60.0 MiB) are dead and wait for a collection of their generation.");
  EXPECT_TRUE(is_harmless_rule(judge(f).front().rule));
  EXPECT_FALSE(is_harmless_rule("native"));
}

TEST(Verdict, OfWhatIsIncomplete) {
  VerdictFacts f = healthy();
  EXPECT_EQ(judge(f, true).front().rule, "nothing"); // but no all-clear
  EXPECT_TRUE(judge(f, true).front().text.starts_with(
      "The dump is incomplete (see the notes); in the readable part nothing stands out"))
      << judge(f, true).front().text;
  f.suspect = 40 * mib, f.malloc_in_use = 200 * mib;
  EXPECT_EQ(judge(f, true).front().text,
            judge(f).front().text + " The dump is incomplete, so this may be wrong: see the notes.");
}

TEST(Verdict, WhatExplainsMostWins) {
  expect("native", [](VerdictFacts &f) { f.suspect = 40 * mib, f.malloc_in_use = 200 * mib; });
}

// Beside memory that is harmless somebody holds much of what is alive, which one dump cannot clear.
TEST(Verdict, AnOwnerIsSaidBesideWhatIsHarmless) {
  VerdictFacts f = healthy();
  f.heap = 800 * mib, f.gc_empty = 700 * mib;
  EXPECT_EQ(judge(f).front().text,
            "700.0 MiB of the 800.0 MiB that the GC has committed are empty; it keeps them for later.");
  f.suspect = 40 * mib, f.suspect_elements = 200'000;
  f.suspect_way = "static Shop.Agent.s_next", f.suspect_text = "a chain of 200,000 × Shop.Step, 112 B each";
  const std::string text = judge(f).front().text;
  EXPECT_NE(text.find("is held by static Shop.Agent.s_next: a chain of 200,000 × Shop.Step, 112 B each. That "
                      "matters only if it grows"),
            text.npos)
      << text;
}

// Most of what is alive is waste, and stays.
TEST(Verdict, WasteIsSaidBesideWhatIsHarmless) {
  for (void (*change)(VerdictFacts &) : {+[](VerdictFacts &f) { f.dead = 600 * mib; },
                                         +[](VerdictFacts &f) { f.heap = 800 * mib, f.gc_empty = 700 * mib; },
                                         +[](VerdictFacts &f) { f.malloc_free = 900 * mib; }}) {
    VerdictFacts f = healthy();
    change(f);
    EXPECT_EQ(judge(f).front().text.find("waste"), std::string::npos) << judge(f).front().text;
    f.waste = 54 * mib, f.waste_text = "90,000 × List<Int32>, empty, in Shop.Order.Lines";
    const std::string text = judge(f).front().text;
    EXPECT_TRUE(text.ends_with(". But 90 % of live memory (54.0 MiB) is waste: 90,000 × List<Int32>, "
                               "empty, in Shop.Order.Lines."))
        << text;
    f.suspect = 30 * mib; // who keeps it comes before it
    EXPECT_LT(judge(f).front().text.find("is held by static Shop.Cache._items"),
              judge(f).front().text.find("is waste"));
  }
}

// What the runtime keeps of assemblies that were made at run time is malloc's, too.
TEST(Verdict, AssembliesOfNoFileAreSaidBesideMalloc) {
  VerdictFacts f = healthy();
  f.malloc_in_use = 200 * mib, f.runtime = 50 * mib, f.made_assemblies = 499;
  f.made_assemblies_name = "480 called \"Rules1\" and alike",
  f.made_assemblies_by = "static Shop.Rules.all leads there";
  EXPECT_EQ(judge(f).front().text.find("assemblies"), std::string::npos);
  f.made_assemblies = 5000;
  EXPECT_EQ(judge(f).front().rule, "made_assemblies");
  EXPECT_EQ(judge(f).front().bytes, 250 * mib);
  EXPECT_TRUE(judge(f).front().text.starts_with(
      "Not the managed heap: 5,000 assemblies lie in no file (480 called \"Rules1\" and alike), so they were made at "
      "run time or loaded from bytes; static Shop.Rules.all leads there. The runtime keeps data about each of them: "
      "the runtime and native code have 200.0 MiB from malloc, the runtime's own heaps take 50.0 MiB; the GC's heap "
      "takes "))
      << judge(f).front().text;
}

HangVerdict first_hang(const HangFacts &facts) {
  const std::vector<HangVerdict> all = judge_hangs(facts);
  return all.empty() ? HangVerdict() : all.front();
}

std::vector<std::string> rules(const VerdictFacts &facts) {
  std::vector<std::string> out;
  for (const MemoryVerdict &one : judge(facts))
    out.push_back(one.rule);
  return out;
}

// What explains other bytes is said, too; what only explains, and is no fault, is not said beside a fault.
TEST(Verdict, EachGroupHasOne) {
  using Rules = std::vector<std::string>;
  VerdictFacts f = healthy();
  f.suspect = 57 * mib, f.malloc_in_use = 200 * mib;
  EXPECT_EQ(rules(f), Rules({"native", "one_owner"}));
  f.copies = 30 * mib; // who holds them comes first
  EXPECT_EQ(rules(f), Rules({"native", "one_owner", "duplicate_data"}));
  f.copies = 40 * mib;
  EXPECT_EQ(rules(f), Rules({"native", "duplicate_data"}));
  f.copies = 0, f.suspect_http_clients = 500; // of the same bytes: it knows more
  EXPECT_EQ(rules(f), Rules({"native", "http_clients"}));
  f.gc_empty = 64 * mib, f.heap = 120 * mib;
  EXPECT_EQ(rules(f), Rules({"native", "http_clients"}));
  f.gc_empty = 900 * mib, f.heap = 1000 * mib;
  EXPECT_EQ(rules(f), Rules({"gc_holds_empty_memory"}));
}

// The finalizer's thread waits for a lock, and what it is to finalize waits for it.
TEST(Verdict, ABlockedFinalizer) {
  HangFacts f;
  f.finalizer_objects = 9999;
  EXPECT_EQ(first_hang(f).rule, ""); // it is at work
  f.is_finalizer_waiting = true, f.finalizer_text = "waits for a lock in Shop.Handle.Finalize";
  EXPECT_EQ(first_hang(f).rule, "finalizer_blocked");
  EXPECT_EQ(first_hang(f).text, "9,999 objects wait for their finalizers, and the thread that runs these waits for a "
                                "lock in Shop.Handle.Finalize. No finalizer runs until it goes on.");
  EXPECT_EQ(first_hang(f).verb, std::string_view("stack"));
  EXPECT_EQ(first_hang(f).options, "");
  f.finalizer_os_id = 4711;
  EXPECT_EQ(first_hang(f).options, " 4711"); // not the stacks of all
  f.finalizer_lock_holder = "thread Loader, which sleeps in Shop.Cache.Load,";
  EXPECT_EQ(first_hang(f).verb, std::string_view("locks"));
  EXPECT_EQ(first_hang(f).options, "");
  EXPECT_EQ(first_hang(f).text, "9,999 objects wait for their finalizers, and the thread that runs these waits for a "
                                "lock in Shop.Handle.Finalize; thread Loader, which sleeps in Shop.Cache.Load, has "
                                "that lock. No finalizer runs until it goes on.");
  f.finalizer_objects = least_elements - 1;
  EXPECT_EQ(first_hang(f).rule, "");
}

TEST(Verdict, ManyBeforeALock) {
  HangFacts f;
  f.contenders = least_contenders, f.contended_text = "Shop.Cache", f.contended_by = "thread Loader has";
  f.holder_place = "sleeps in Shop.Cache.Load", f.is_holder_waiting = true;
  EXPECT_EQ(first_hang(f).rule, "lock_contended");
  EXPECT_EQ(first_hang(f).sureness, Sureness::probable);
  EXPECT_EQ(first_hang(f).text, "5 threads wait for a lock (Shop.Cache) that thread Loader has, which sleeps in "
                                "Shop.Cache.Load. They go on when it lets go. Keep what takes long out of the lock.");
  f.contended_text = "ReaderWriterLockSlim", f.contended_by = "thread Exporter (and 2 more) reads";
  EXPECT_EQ(
      first_hang(f).text,
      "5 threads wait for a lock (ReaderWriterLockSlim) that thread Exporter (and 2 more) "
      "reads, which sleeps in Shop.Cache.Load. They go on when it lets go. Keep what takes long out of the lock.");
  f.deadlocks = 1; // they wait behind it
  EXPECT_EQ(judge_hangs(f).size(), 1u);
  f.deadlocks = 0, f.contenders = least_contenders - 1;
  EXPECT_EQ(first_hang(f).rule, "");
}

TEST(Verdict, ASignalThatNobodyCanGive) {
  HangFacts f;
  EXPECT_EQ(first_hang(f).rule, "");
  f.lost_waiters = 1, f.lost_thread = "Joiner", f.lost_place = "waits for a countdown in Shop.Press.Await";
  f.lost_type = "CountdownEvent", f.lost_missing = "1 of 10 signals is missing";
  EXPECT_EQ(first_hang(f).rule, "lost_signal");
  EXPECT_EQ(first_hang(f).sureness, Sureness::probable);
  EXPECT_EQ(first_hang(f).text,
            "Thread Joiner waits for a countdown in Shop.Press.Await: 1 of 10 signals is missing, and nothing else in "
            "the process refers to the CountdownEvent, so nobody can signal it. Perhaps the code that was to do so "
            "ended with an exception, or runs only after this wait.");
  f.lost_waiters = 2, f.lost_others = 3, f.lost_missing = "";
  EXPECT_EQ(first_hang(f).text,
            "2 threads wait for one CountdownEvent; thread Joiner waits for a countdown in Shop.Press.Await: it is not "
            "set, and nothing else in the process refers to the CountdownEvent, so nobody can signal it. Perhaps the "
            "code that was to do so ended with an exception, or runs only after this wait. The same is true of 3 "
            "more.");
  f.deadlocks = 1, f.deadlock_text = "threads A and B wait for each other";
  EXPECT_EQ(judge_hangs(f).size(), 2u);
  f.has_lost_followers = true; // those of the deadlock
  EXPECT_EQ(judge_hangs(f).size(), 1u);
}

TEST(Verdict, AnEndThatWaits) {
  HangFacts f;
  f.exit_place = "waits for a lock in Shop.Printout.Finalize";
  EXPECT_EQ(first_hang(f).rule, "");
  f.exit_begun = "thread Stopper called Environment.Exit in Shop.Stop";
  f.exit_lock_holder = "thread Stopper", f.exit_sureness = Sureness::certain;
  f.finalizer_objects = 9999, f.is_finalizer_waiting = true; // the same thread's
  ASSERT_EQ(judge_hangs(f).size(), 1u);
  EXPECT_EQ(first_hang(f).rule, "exit_blocked");
  EXPECT_EQ(first_hang(f).sureness, Sureness::certain);
  EXPECT_EQ(
      first_hang(f).text,
      "The process is ending (thread Stopper called Environment.Exit in Shop.Stop), but waits for a finalizer: the "
      "thread that runs it waits for a lock in Shop.Printout.Finalize; thread Stopper has that lock. The process "
      "stays until it goes on.");
  f.exit_begun = "Main has returned", f.exit_place = "sleeps in Shop.Journal.OnExit", f.exit_lock_holder = "";
  f.is_exit_handler = true, f.exit_sureness = Sureness::possible;
  EXPECT_EQ(first_hang(f).text,
            "The process is ending (Main has returned), but waits for a handler of AppDomain.ProcessExit: the thread "
            "that runs it sleeps in Shop.Journal.OnExit. That is a hang only if this never ends.");
}

TEST(Verdict, DeadlocksComeFirst) {
  HangFacts f;
  EXPECT_EQ(first_hang(f).rule, "");
  f.pool = {.workers = 8, .blocked = 8, .waits = {{"a lock", 8}}, .queued = 5};
  f.deadlocks = 1, f.deadlock_text = "threads Buyer and Seller wait for each other";
  EXPECT_EQ(first_hang(f).rule, "deadlock");
  EXPECT_EQ(first_hang(f).text, "Deadlock: threads Buyer and Seller wait for each other.");
  f.deadlock_places = "Buyer waits for a lock in Shop.Buy (Shop.cs:41)";
  EXPECT_TRUE(first_hang(f).text.ends_with("wait for each other. Buyer waits for a lock in Shop.Buy (Shop.cs:41)."));
  f.deadlock_places.clear();
  f.deadlocks = 3, f.deadlock_sureness = Sureness::possible;
  EXPECT_EQ(first_hang(f).text, "Perhaps a deadlock: threads Buyer and Seller wait for each other; 3 circles in all.");
}

TEST(Verdict, ACrowdBeforeASemaphore) {
  HangFacts f;
  f.crowds = 1, f.crowd = 10000, f.are_calls = true, f.crowd_text = "SemaphoreSlim (static Shop.Pricing._gate)";
  f.pool = {.workers = 8, .blocked = 8, .waits = {{"a semaphore", 8}}, .queued = 5};
  EXPECT_EQ(first_hang(f).rule, "semaphore_taken"); // what they are blocked for says more
  EXPECT_EQ(first_hang(f).text, "10,000 calls wait for a SemaphoreSlim (static Shop.Pricing._gate), of which none is "
                                "free. Its holder is unknown: perhaps a call that took it left without Release, as "
                                "with an exception: release it in a "
                                "finally.");
  f.crowd_place = "Shop.Pricing.Get (Pricing.cs:12)";
  EXPECT_TRUE(
      first_hang(f).text.starts_with("10,000 calls wait in Shop.Pricing.Get (Pricing.cs:12) for a SemaphoreSlim"))
      << first_hang(f).text;
  f.crowd_place.clear();
  f.crowd_holder = "Shop.Pricing.Load", f.crowds = 3, f.are_threads = true;
  EXPECT_EQ(first_hang(f).text,
            "10,000 threads and calls wait for a SemaphoreSlim (static Shop.Pricing._gate), of which none is free, and "
            "others for 2 more. Shop.Pricing.Load probably has it. That is a hang only if this never ends.");
}

TEST(Verdict, AStarvedPool) {
  HangFacts f;
  f.orphaned_waiters = 2, f.orphaned_text = "Shop.Gate 0x1000, which managed thread 4 had when it ended";
  EXPECT_EQ(first_hang(f).rule, "orphaned_lock");
  EXPECT_EQ(first_hang(f).text,
            "2 threads wait for Shop.Gate 0x1000, which managed thread 4 had when it ended: nobody lets it go.");
  f.orphaned_waiters = 0;
  f.pool = {.workers = 8, .blocked = 6, .waits = {{"a lock", 6}}, .queued = 1};
  EXPECT_EQ(first_hang(f).rule, "pool_starved");
  EXPECT_EQ(
      first_hang(f).text,
      "The thread pool starves: 1 work item waits for a worker, and of 8 workers 6 are blocked: 6 for a lock; 2 are "
      "at work.");
  f.pool_tasks = "5 of the tasks are calls of Shop.Orders.Load (Orders.cs:12)";
  EXPECT_TRUE(first_hang(f).text.ends_with("at work. 5 of the tasks are calls of Shop.Orders.Load (Orders.cs:12)."));
  f.pool_tasks.clear();
  f.pool.blocked = 3; // the others work, and will come to it
  EXPECT_EQ(first_hang(f).rule, "");
  f.pool.queued = 41; // not soon
  EXPECT_EQ(first_hang(f).text, "The thread pool starves: 41 work items wait for a worker, and of 8 workers 3 are "
                                "blocked: 6 for a lock; 5 are at work.");
  f.pool.blocked = 0;
  EXPECT_EQ(
      first_hang(f).text,
      "The thread pool has more work than workers: 41 work items wait for a worker, and all 8 are at work. That is a "
      "hang only if no worker ever finishes its work.");
  f.pool.idle = 1; // it takes the next
  EXPECT_EQ(first_hang(f).rule, "");
  f.pool.idle = 0, f.pool.blocked = 8, f.pool.queued = 0; // nobody waits for them
  EXPECT_EQ(first_hang(f).rule, "");
}
} // namespace
} // namespace dnheap::test
