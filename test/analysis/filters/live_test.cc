// `verify`, and --live and --dead of `stat` and `objects`, against what the test itself wrote into the objects.
#include "analysis/verb.h"
#include "objects/live.h"
#include "snapshot/snapshot.h"
#include "support/random_graph.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

report::Answer ask(Snapshot &snapshot, const std::string &verb, const Question &question = {}) {
  for (const Verb &v : verbs())
    if (verb == v.name)
      return v.answer(snapshot, question);
  throw std::logic_error("no verb " + verb);
}

std::vector<report::Row> rows_of(const report::Table &table) {
  std::vector<report::Row> out;
  report::Row row(table.columns.size());
  while (table.rows(row))
    out.push_back(row);
  return out;
}

u64 number(const report::Table &table, const report::Row &row, const char *column) {
  const u64 *value = row[*table.find_column(column)].get_if<u64>();
  return value ? *value : ~u64{0};
}

Snapshot snapshot_of(HeapBuilder &heap) {
  SnapshotOptions options;
  options.threads = 2;
  return Snapshot(heap.target(), options);
}

TEST(Verify, ListsEveryBadReference) {
  std::mt19937_64 random(31);
  RandomGraph made({}, random, 4, 60);
  Snapshot snapshot = snapshot_of(made.heap);
  report::Answer answer = ask(snapshot, "verify");
  std::map<Address, Address> bad;
  for (const report::Row &row : rows_of(answer.tables[0]))
    bad[number(answer.tables[0], row, "slot")] = number(answer.tables[0], row, "target");
  std::map<Address, Address> wanted = made.bad;
  while (wanted.size() > 1000)
    wanted.erase(std::prev(wanted.end()));
  EXPECT_EQ(bad, wanted);
  std::vector<report::Row> totals = rows_of(answer.tables[1]);
  ASSERT_EQ(totals.size(), 1u);
  u64 references = 0;
  for (const auto &[object, targets] : made.targets)
    references += targets.size();
  EXPECT_EQ(number(answer.tables[1], totals[0], "references"), references);
  EXPECT_EQ(number(answer.tables[1], totals[0], "bad_references"), made.bad.size());
  EXPECT_EQ(number(answer.tables[1], totals[0], "problems"), made.bad.size());
  EXPECT_NE(headline_text(answer).find("PROBLEMS"), std::string::npos) << headline_text(answer);
}

TEST(Verify, CallsASoundHeapSound) {
  std::mt19937_64 random(32);
  RandomGraph made({}, random, 0, 60);
  Snapshot snapshot = snapshot_of(made.heap);
  report::Answer answer = ask(snapshot, "verify");
  EXPECT_TRUE(rows_of(answer.tables[0]).empty());
  EXPECT_NE(headline_text(answer).find("sound: all"), std::string::npos) << headline_text(answer);
}

TEST(Live, AliveAndDeadAreAllButFree) {
  std::mt19937_64 random(33);
  RandomGraph made({}, random, 0, 200, 80);
  for (int i = 0; i < 10; ++i)
    made.heap.gc.handles.push_back({.type = HandleType::strong, .object = made.random_object()});
  Snapshot snapshot = snapshot_of(made.heap);
  Question live, dead;
  live.life = Life::live;
  dead.life = Life::dead;
  std::map<Address, u64> sizes;
  for (const auto &[address, object] : made.objects())
    sizes[address] = object.size;
  std::map<Address, u64> seen;
  u64 counts[2];
  for (const Question &question : {live, dead}) {
    report::Answer stat = ask(snapshot, "stat", question), objects = ask(snapshot, "objects", question);
    u64 count = 0, bytes = 0, listed = 0;
    for (const report::Row &row : rows_of(stat.tables[0])) {
      count += number(stat.tables[0], row, "count");
      bytes += number(stat.tables[0], row, "bytes");
    }
    for (const report::Row &row : rows_of(objects.tables[0])) {
      Address address = number(objects.tables[0], row, "address");
      EXPECT_EQ(snapshot.live().objects.test(address), question.life == Life::live);
      seen[address] = number(objects.tables[0], row, "bytes");
      bytes -= seen[address];
      ++listed;
    }
    EXPECT_EQ(count, listed);
    EXPECT_EQ(bytes, 0u);
    counts[question.life == Life::dead] = count;
    EXPECT_EQ(stat.completeness->objects, made.heap.objects.size());
  }
  EXPECT_EQ(seen, sizes);
  EXPECT_GT(counts[0], 0u);
  EXPECT_GT(counts[1], 0u);
}

TEST(Live, IsNotToldWithoutRoots) {
  HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen2).object(heap.object_type);
  Snapshot snapshot = snapshot_of(heap);
  Question live;
  live.life = Life::live;
  try {
    ask(snapshot, "stat", live);
    FAIL() << "told";
  } catch (const Error &e) {
    EXPECT_NE(std::string(e.what()).find("without roots"), std::string::npos) << e.what();
  }
}

} // namespace
} // namespace dnheap::test
