// Whose end a thread waits for, by the frames of Thread.Join: with and without a time limit, by words that may be left
// over, and where it is not clear.
#include "analysis/waits/kinds/join_waits.h"
#include "runtime/facts/thread_details.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 join = 1, join_with_time = 2, run = 3; // methods
constexpr Address first_object = 0x10000;

// A runtime with the managed Threads and the methods of the test.
class JoiningRuntime : public CoreClr {
public:
  using CoreClr::CoreClr;
  ThreadDetails thread_details(const ThreadData &thread) const override {
    ThreadDetails out;
    out.object = first_object + thread.managed_id.value_or(0) * 0x100;
    return out;
  }
  MethodText method_text(Address method) const override {
    const std::string qualified = method == run ? "Shop.Pump.Stop" : "System.Threading.Thread.Join";
    return {qualified + (method == join_with_time ? "(Int32)" : "()"), qualified, "Shop.dll"};
  }
};

struct Joining : Opened {
  explicit Joining(HeapBuilder &heap)
      : Opened(heap), joining(*target, target->modules.at(0), runtime.descriptor(), {}), threads(3) {
    for (u64 i = 0; i < threads.size(); ++i)
      threads[i].os_id = 100 + i, threads[i].managed_id = i;
  }
  static Address object(u64 thread) { return first_object + thread * 0x100; }
  static StackFrame frame(u64 method, std::vector<Address> objects) {
    StackFrame out;
    out.method_desc = method;
    for (Address one : objects) {
      StackReference reference;
      reference.value = one;
      out.references.push_back(reference);
    }
    return out;
  }
  std::optional<JoinWait> find(std::vector<StackFrame> frames, const char *text = wait_for_end) const {
    WalkedStack stack;
    stack.frames = std::move(frames);
    stack.are_references_known = are_references_known;
    WaitText wait;
    wait.text = text;
    return JoinWaits(joining, threads).find(0, stack, wait);
  }

  JoiningRuntime joining;
  std::vector<ThreadData> threads;
  bool are_references_known = true;
};

TEST(JoinWaits, TheFramesOfJoinReferToTheThread) {
  HeapBuilder heap({.net = Net::net10});
  Joining of(heap);
  const std::optional<JoinWait> found = of.find(
      {of.frame(join_with_time, {of.object(1)}), of.frame(join, {}), of.frame(run, {of.object(2)})}); // joined next
  ASSERT_TRUE(found);
  EXPECT_EQ(found->joined, 1u);
  EXPECT_EQ(found->object, of.object(1));
  EXPECT_FALSE(found->is_by_stack);
  EXPECT_FALSE(found->is_limit_unknown);
}

// On .NET 8 and 9, a Frame of the runtime has the reference.
TEST(JoinWaits, AFrameOfTheRuntimeRefersToIt) {
  HeapBuilder heap({.net = Net::net8});
  Joining of(heap);
  StackFrame first = of.frame(0, {of.object(2)});
  first.kind = StackFrame::Kind::explicit_;
  const std::optional<JoinWait> found = of.find({first, of.frame(join, {}), of.frame(run, {})});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->joined, 2u);
}

TEST(JoinWaits, ATimeLimitIsUnknown) {
  HeapBuilder heap({.net = Net::net10});
  Joining of(heap);
  const std::optional<JoinWait> found = of.find({of.frame(join_with_time, {of.object(1)}), of.frame(run, {})});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_limit_unknown);
}

TEST(JoinWaits, AJoinWithoutATimeLimit) {
  HeapBuilder heap({.net = Net::net10});
  Joining of(heap);
  WalkedStack stack;
  stack.frames = {of.frame(join_with_time, {}), of.frame(join, {}), of.frame(run, {})};
  EXPECT_TRUE(is_endless_join(of.joining, stack));
  stack.frames = {of.frame(join_with_time, {}), of.frame(run, {})};
  EXPECT_FALSE(is_endless_join(of.joining, stack));
}

TEST(JoinWaits, WordsOfAStackMayBeLeftOver) {
  HeapBuilder heap({.net = Net::net10});
  Joining of(heap);
  of.are_references_known = false;
  const std::optional<JoinWait> found = of.find({of.frame(join, {of.object(1)})});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_by_stack);
}

// A certain reference only: words of its own Thread lie on any stack.
TEST(JoinWaits, AThreadThatWaitsForItself) {
  HeapBuilder heap({.net = Net::net10});
  Joining of(heap);
  const std::optional<JoinWait> found = of.find({of.frame(join, {of.object(0)})});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->joined, 0u);
  EXPECT_FALSE(of.find({of.frame(join, {of.object(0), of.object(1)})}));
  of.are_references_known = false;
  EXPECT_FALSE(of.find({of.frame(join, {of.object(0)})}));
}

TEST(JoinWaits, NothingWhereItIsNotClear) {
  HeapBuilder heap({.net = Net::net10});
  Joining of(heap);
  EXPECT_FALSE(of.find({of.frame(join, {of.object(1), of.object(2)})}));      // two threads
  EXPECT_FALSE(of.find({of.frame(join, {}), of.frame(run, {of.object(1)})})); // only its caller has one
  EXPECT_FALSE(of.find({of.frame(run, {of.object(1)})}));                     // no Join
  EXPECT_FALSE(of.find({of.frame(join, {of.object(1)})}, "a lock"));          // another wait
  of.threads[1].os_id = 0;                                                    // the thread has ended
  EXPECT_FALSE(of.find({of.frame(join, {of.object(1)})}));
}

} // namespace
} // namespace dnheap::test
