// Exceptions of failed tasks that nobody looked at: which count, and in which groups; in every layout.
#include "analysis/findings/activity.h"
#include "analysis/findings/unseen_failures.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct FailedTasksHeap : LibraryHeap {
  explicit FailedTasksHeap(const HeapShape &shape) : LibraryHeap(shape) {
    record = type("System.Threading.Tasks", "TaskExceptionHolder", 0, 4, {"m_faultExceptions", "?m_isHandled"});
    list = type("System.Collections.Generic", "List", 0, 3, {"_items"});
    dispatch = type("System.Runtime.ExceptionServices", "ExceptionDispatchInfo", 0, 3, {"_exception"});
    failure = type("Shop", "Failure", 0, 3, {"_message"});
    other = type("Shop", "OtherFailure", 0, 3, {"_message"});
  }
  Address fail(Address exception_type, bool is_handled) {
    const Address exception = old.object(exception_type);
    with(record, {with(list, {array({with(dispatch, {exception})})}), is_handled});
    return exception;
  }

  Address record = 0, list = 0, dispatch = 0, failure = 0, other = 0;
};

TEST(UnseenFailures, ByTypeAndMostFrequentFirst) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    FailedTasksHeap s(shape);
    s.fail(s.failure, true);
    const Address first = s.fail(s.failure, false);
    s.fail(s.other, false);
    s.fail(s.other, false);
    s.with(s.record, {0, 0}); // of a task that was canceled
    Snapshot snapshot(s.heap.target(), {});
    const std::vector<UnseenFailure> found = find_unseen_failures(snapshot);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].type, "Shop.OtherFailure");
    EXPECT_EQ(found[0].count, 2u);
    EXPECT_EQ(found[1].type, "Shop.Failure");
    EXPECT_EQ(found[1].exception, first);
    EXPECT_TRUE(found[1].method.empty()); // the exception has no stack
  }
}

TEST(UnseenFailures, OfVeryManyTheCountIsTheLeast) {
  for (const bool is_more : {false, true}) {
    FailedTasksHeap s({});
    for (int i = 0; i < 1000 + is_more; ++i)
      s.fail(s.failure, false);
    Snapshot snapshot(s.heap.target(), {});
    const std::vector<UnseenFailure> found = find_unseen_failures(snapshot);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].count, 1000u);
    EXPECT_EQ(found[0].is_at_least, is_more);
    SourceLines lines(snapshot);
    const Activities activities = find_activities(snapshot, {}, lines, 5);
    ASSERT_EQ(activities.list.size(), 1u);
    EXPECT_EQ(activities.list[0].figures(), is_more ? "at least 1,000 calls" : "1,000 calls");
  }
}

TEST(UnseenFailures, WhoWaitsMayBeOfTheClassThatCalled) {
  UnseenFailure failure;
  failure.thrown_in = "Shop.Gate", failure.classes = {"Shop.Gate", "Shop.Startup"};
  EXPECT_STREQ(failure.words_for("Shop.Gate"), "the same class");
  EXPECT_STREQ(failure.words_for("Shop.Startup"), "a class that called it");
}

TEST(UnseenFailures, NoneWithoutRecords) {
  HeapBuilder heap({});
  Snapshot snapshot(heap.target(), {});
  EXPECT_TRUE(find_unseen_failures(snapshot).empty());
}

} // namespace
} // namespace dnheap::test
