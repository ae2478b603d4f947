// The paragraphs with which `report` begins: who holds most stands among the findings, and says nothing twice.
#include "analysis/findings/paragraphs.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

MemoryVerdict holder_of_most() {
  MemoryVerdict out;
  out.rule = "one_owner", out.is_size_alone = true, out.bytes = 57'000'000;
  out.text = "95 % of live memory (57.0 MiB) is held by static Shop.Feed.Changed." + std::string(only_growth_matters);
  return out;
}

std::vector<std::string> texts_of(const std::vector<Finding> &findings, const MemoryVerdict &verdict) {
  std::vector<std::string> out;
  for (const Finding &one : paragraphs_of(findings, verdict, {}))
    out.push_back(one.text);
  return out;
}

using Texts = std::vector<std::string>;

TEST(Paragraphs, WhoHoldsMostIsInDoubtOnlyWithoutACause) {
  const MemoryVerdict verdict = holder_of_most();
  EXPECT_EQ(texts_of({}, verdict), Texts{verdict.text});
  Finding files{.kind = "open_handles", .harm = Harm::resource, .text = "700 files are open."};
  EXPECT_EQ(texts_of({files}, verdict), (Texts{verdict.text, files.text}));
  Finding handlers{.kind = "event_handlers", .text = "3,000 handlers were added to Shop.Feed.Changed."};
  handlers.is_cause = true;
  EXPECT_EQ(texts_of({handlers}, verdict),
            (Texts{handlers.text, "95 % of live memory (57.0 MiB) is held by static Shop.Feed.Changed."}));
}

TEST(Paragraphs, CodeIsInNoDoubtBesideACause) {
  Finding scopes{.kind = "open_scopes", .text = "3,000 scopes of services were never disposed of."};
  scopes.is_cause = true;
  const MemoryVerdict verdict =
      with_code(holder_of_most(), "filled in Shop.Feed.Add; no method that uses the field removes from it");
  EXPECT_EQ(texts_of({scopes}, verdict).back(),
            "95 % of live memory (57.0 MiB) is held by static Shop.Feed.Changed. It is filled in Shop.Feed.Add, and no "
            "method that uses the field removes from it.");
  scopes.is_cause = false;
  EXPECT_EQ(texts_of({scopes}, verdict).back(), verdict.text);
}

// Work that waits for a worker gathers because the pool starves.
TEST(Paragraphs, QueuedWorkMattersWhereThePoolStarves) {
  const Finding starved{.kind = "pool_starved", .harm = Harm::hang, .text = "The thread pool starves."};
  MemoryVerdict verdict = holder_of_most();
  EXPECT_EQ(texts_of({starved}, verdict), (Texts{starved.text, verdict.text}));
  const std::string work = "95 % of live memory is held by System.Threading.ThreadPoolWorkQueue.workItems.";
  verdict.text = work + std::string(only_growth_matters);
  EXPECT_EQ(texts_of({starved}, verdict), (Texts{starved.text, work}));
  EXPECT_EQ(texts_of({}, verdict), Texts{verdict.text});
}

TEST(Paragraphs, WhoHoldsMostMattersWhereMemoryIsShort) {
  const MemoryVerdict verdict = holder_of_most();
  for (const auto &[kind, text] : std::vector<std::pair<std::string, std::string>>{
           {"crash", "unhandled System.OutOfMemoryException"}, {"memory_limit", "The GC may use 128.0 MiB."}}) {
    const Texts texts = texts_of({{.kind = kind, .harm = Harm::crash, .text = text}}, verdict);
    EXPECT_EQ(texts, (Texts{text, "95 % of live memory (57.0 MiB) is held by static Shop.Feed.Changed."}));
  }
  const Finding other{.kind = "crash", .harm = Harm::crash, .text = "unhandled System.FormatException"};
  EXPECT_EQ(texts_of({other}, verdict).back(), verdict.text);
}

TEST(Paragraphs, AShareOfMemoryIsSaidOnce) {
  const MemoryVerdict verdict = holder_of_most();
  Finding statics{.kind = "thread_statics",
                  .harm = Harm::resource,
                  .text = "Thread static Shop.Page holds 57.0 MiB (95 % of live memory)."};
  EXPECT_EQ(texts_of({statics}, verdict), (Texts{verdict.text, statics.text})); // of another owner
  statics.is_cause = true;
  EXPECT_EQ(texts_of({statics}, verdict), Texts{statics.text});
  Finding cache{.kind = "cache_without_limit", .text = "It holds 57.0 MiB (95 % of live memory).", .count = 20'000};
  cache.bytes = 46'000'000;
  EXPECT_EQ(texts_of({cache}, verdict), Texts{cache.text});
  cache.bytes = 45'000'000; // less than four fifths
  EXPECT_EQ(texts_of({cache}, verdict), (Texts{cache.text, verdict.text}));
}

TEST(Paragraphs, OtherVerdictsAreFindingsAlready) {
  MemoryVerdict verdict = holder_of_most();
  verdict.is_size_alone = false;
  EXPECT_TRUE(texts_of({}, verdict).empty());
}

TEST(Paragraphs, CodeIsSaidOfWhoHoldsMost) {
  const MemoryVerdict verdict = holder_of_most();
  EXPECT_EQ(with_code(verdict, "").text, verdict.text);
  const std::string holder = "95 % of live memory (57.0 MiB) is held by static Shop.Feed.Changed.",
                    growth(only_growth_matters);
  EXPECT_EQ(with_code(verdict, "filled in Shop.Feed.Add; emptied in Shop.Feed.Drain").text,
            holder + " It is filled in Shop.Feed.Add; emptied in Shop.Feed.Drain." + growth);
  EXPECT_EQ(with_code(verdict, "filled in Shop.Feed.Add; no method that uses the field removes from it").text,
            holder +
                " It is filled in Shop.Feed.Add, and no method that uses the field removes from it: right for a table "
                "that is filled once; anything else needs a limit." +
                growth);
  EXPECT_EQ(with_code(verdict, "made in Shop.Feed..ctor").text, holder + " They are made in Shop.Feed..ctor." + growth);
  MemoryVerdict other{.rule = "native", .text = "Not the managed heap."};
  EXPECT_EQ(with_code(other, "filled in Shop.Feed.Add").text, other.text);
}

// Whose blocks they are says more than that they are not the heap's.
TEST(Paragraphs, ASurerFindingReplacesThatTheHeapIsSmall) {
  const Finding native{.kind = "native", .harm = Harm::memory, .text = "Not the managed heap.", .bytes = 100'000'000};
  Finding lost{.kind = "lost_native_memory", .harm = Harm::memory, .text = "Native memory is lost."};
  const MemoryVerdict verdict{.rule = "native", .text = native.text, .bytes = native.bytes};
  for (const auto &[bytes, texts] :
       std::vector<std::pair<u64, Texts>>{{50'000'000, {lost.text}}, {49'999'999, {native.text, lost.text}}}) {
    lost.bytes = bytes;
    EXPECT_EQ(texts_of({native, lost}, verdict), texts);
  }
  MemoryVerdict small{.rule = "mostly_native", .text = native.text, .bytes = native.bytes, .is_size_alone = true};
  EXPECT_EQ(texts_of({lost}, small), Texts{lost.text});
  EXPECT_EQ(texts_of({}, small), Texts{small.text});
}

// After an exception that ended calls, what these held is dead.
TEST(Paragraphs, DeadObjectsAreInDoubtWhereMemoryRanOut) {
  const Finding dead{.kind = "dead_objects", .harm = Harm::memory, .text = "Little is alive."};
  const MemoryVerdict verdict{.rule = "dead_objects", .text = dead.text};
  const Finding other{.kind = "crash", .harm = Harm::crash, .text = "unhandled System.FormatException"},
      memory{.kind = "crash", .harm = Harm::crash, .text = "unhandled System.OutOfMemoryException"};
  EXPECT_EQ(texts_of({other, dead}, verdict).back(), dead.text);
  EXPECT_EQ(texts_of({memory, dead}, verdict).back(),
            dead.text + " Some were probably alive when the memory ran out: held by variables of calls that the "
                        "exception has ended since.");
}

} // namespace
} // namespace dnheap::test
