// The dumps beside the one that is shown: which are read, in what order they stand, and what becomes of those that
// cannot be read.
#include "base/error.h"
#include "explore/compared_dumps.h"
#include "report/write.h"
#include "support/core_file.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::explore {
namespace {

using test::HeapBuilder;
using test::SegmentWriter;
using Clock = TakenAt::Clock;

// Orders in an array that a handle holds.
struct Orders : HeapBuilder {
  explicit Orders(u64 count) : HeapBuilder(test::HeapShape{}) {
    const Address order = type("Shop.Order", 3);
    SegmentWriter &old = segment(GCSegmentGeneration::gen2);
    const Address list = old.object(object_array_type, count);
    for (u64 i = 0; i < count; ++i)
      old.store(list + (2 + i) * p, old.object(order), p);
    gc.handles = {{.type = HandleType::strong, .object = list}};
  }
};

struct Taken {
  const char *name;
  std::optional<u64> seconds;
  Clock clock = Clock::dump;
};

class Dumps : public testing::Test {
protected:
  // A saved record, which says when its dump was taken.
  std::string record(const Taken &taken) const {
    Record record;
    record.name = taken.name;
    record.taken = taken.seconds;
    record.clock = name_of(taken.clock);
    std::string json;
    report::Sink sink(json);
    report::write_json(answer_of(record), {}, sink);
    return folder.write(std::string(taken.name) + ".json", json);
  }

  static std::unique_ptr<Snapshot> shown(const Taken &taken) {
    Orders heap(3);
    std::unique_ptr<Target> target = heap.target();
    target->path = taken.name;
    if (taken.seconds)
      target->taken = TakenAt{*taken.seconds, taken.clock};
    return std::make_unique<Snapshot>(std::move(target), SnapshotOptions{});
  }

  // The names of all dumps in the order in which they are compared; the last one is shown.
  std::vector<std::string> order_of(const std::vector<Taken> &all) const {
    std::vector<std::string> others;
    for (u64 i = 0; i + 1 < all.size(); ++i)
      others.push_back(record(all[i]));
    const std::unique_ptr<Snapshot> of = shown(all.back());
    ComparedDumps dumps(others, {});
    while (dumps.go_on(*of)) {
    }
    return names(dumps.records({}));
  }

  static std::vector<std::string> names(const std::vector<Record> &records) {
    std::vector<std::string> out;
    for (const Record &record : records)
      out.push_back(std::filesystem::path(record.name).stem().string()); // a saved one has the name of its file
    return out;
  }

  test::TemporaryFolder folder;
};

using Names = std::vector<std::string>;

TEST_F(Dumps, StandByTheTimeThatEachOfThemSays) {
  EXPECT_EQ(order_of({{"a", 300}, {"b", 100}, {"c", 200}}), (Names{"b", "c", "a"}));
  EXPECT_EQ(order_of({{"a", 300}, {"b", 100}, {"c", 400, Clock::now}}), (Names{"b", "a", "c"}));
  EXPECT_EQ(order_of({{"a", 100}, {"b", 100}, {"c", 100}}), (Names{"a", "b", "c"}));
}

// A file's time is that of a copy, perhaps, and no order among some says where the others belong.
TEST_F(Dumps, ElseStandAsTheyWereGiven) {
  EXPECT_EQ(order_of({{"a", 300, Clock::file}, {"b", 100}, {"c", 200}}), (Names{"a", "b", "c"}));
  EXPECT_EQ(order_of({{"a", 300}, {"b", {}}, {"c", 200}}), (Names{"a", "b", "c"}));
  EXPECT_EQ(order_of({{"a", 300}, {"b", 100}, {"c", {}}}), (Names{"a", "b", "c"}));
}

TEST_F(Dumps, AreOpenedAndSummedUp) {
  Orders before(2), last(5);
  const std::string core = folder.write("before.core", core_file(before));
  Snapshot of(last.target(), {});
  ComparedDumps dumps({core}, {});
  EXPECT_EQ(dumps.count(), 2u);
  u64 steps = 0;
  while (dumps.go_on(of))
    ++steps;
  EXPECT_EQ(steps, 2u); // one by one
  const std::vector<Record> records = dumps.records({});
  ASSERT_EQ(records.size(), 2u);
  auto orders_of = [](const Record &record) {
    for (const Record::Type &type : record.types)
      if (type.name == "Shop.Order")
        return type.live;
    return u64{0};
  };
  EXPECT_EQ(orders_of(records[0]), 2u);
  EXPECT_EQ(orders_of(records[1]), 5u);
  EXPECT_FALSE(records[0].is_saved);
  dumps.forget_shown();
  EXPECT_EQ(dumps.records({}).size(), 1u);
  EXPECT_TRUE(dumps.go_on(of)); // again
  EXPECT_FALSE(dumps.go_on(of));
}

TEST_F(Dumps, AreComparedByTheirNumbers) {
  const std::unique_ptr<Snapshot> of = shown({"d", 400});
  ComparedDumps dumps({record({"a", 100}), record({"b", 300}), record({"c", 200})}, {});
  while (dumps.go_on(*of)) {
  }
  EXPECT_EQ(names(dumps.records({0, 3})), (Names{"a", "d"}));
  EXPECT_EQ(names(dumps.records({1, 2})), (Names{"c", "b"}));
  EXPECT_THROW(dumps.records({0, 4}), UsageError);
}

TEST_F(Dumps, ThatCannotBeReadAreLeftOut) {
  const std::string wrong = folder.write("wrong.core", std::string(5000, 'x')), gone = folder.path("gone.core");
  const std::unique_ptr<Snapshot> of = shown({"c", 300});
  ComparedDumps dumps({record({"a", 100}), wrong, gone}, {});
  while (dumps.go_on(*of)) {
  }
  EXPECT_EQ(names(dumps.records({})), (Names{"a", "c"}));
  ASSERT_EQ(dumps.problems().size(), 2u);
  EXPECT_TRUE(dumps.problems()[0].starts_with(wrong)) << dumps.problems()[0];
  EXPECT_TRUE(dumps.problems()[1].starts_with(gone)) << dumps.problems()[1];
}

// Whoever hung up, or Ctrl-C, ends a pass; the dump is not lost for that.
TEST_F(Dumps, AreReadAgainAfterAnInterruption) {
  Orders before(2);
  const std::string core = folder.write("before.core", core_file(before));
  Progress progress;
  SnapshotOptions options;
  options.watch.progress = &progress;
  const std::unique_ptr<Snapshot> of = shown({"c", 300});
  ComparedDumps dumps({core}, options);
  progress.cancel = true;
  EXPECT_THROW(dumps.go_on(*of), Interrupted);
  progress.cancel = false;
  while (dumps.go_on(*of)) {
  }
  EXPECT_TRUE(dumps.problems().empty());
  EXPECT_EQ(dumps.records({}).size(), 2u);
}

TEST_F(Dumps, AreNoneWithoutOthers) {
  const std::unique_ptr<Snapshot> of = shown({"c", 300});
  ComparedDumps dumps({}, {});
  EXPECT_TRUE(dumps.empty());
  EXPECT_FALSE(dumps.go_on(*of)); // nothing is worked out for nobody
}

} // namespace
} // namespace dnheap::explore
