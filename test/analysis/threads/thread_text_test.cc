// What stands for a method that is not known; which thread a word means.
#include "analysis/threads/thread_text.h"
#include "base/text.h"
#include "snapshot/snapshot.h"
#include "support/heap_builder.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(ThreadText, AFrameOfNoKnownMethodIsAPlaceInAModuleOrAnAddress) {
  HeapBuilder heap({});
  SnapshotOptions options;
  options.threads = 1;
  Snapshot snapshot(heap.target(), options);
  const Module &module = snapshot.target().modules.at(0);
  StackFrame frame;
  frame.ip = module.base + 0x10;
  const std::string file(module.file_name());
  EXPECT_EQ(frame_text(snapshot.runtime(), frame).name, file + "+0x10");
  EXPECT_EQ(frame_text(snapshot.runtime(), frame).qualified, file + "+0x10");
  EXPECT_EQ(frame_text(snapshot.runtime(), frame).module, file);
  frame.ip = 0x10;
  EXPECT_EQ(frame_text(snapshot.runtime(), frame).name, hex(frame.ip));
  EXPECT_EQ(frame_text(snapshot.runtime(), frame).module, "");
}

// A runtime in which the methods with the numbers 1, 2, … have these names.
class NamedMethods : public CoreClr {
public:
  using CoreClr::CoreClr;
  MethodText method_text(Address method) const override { return {names[method - 1] + "()", names[method - 1], ""}; }
  std::vector<std::string> names;
};

TEST(ThreadText, TheOutermostMethodOfAWaitSaysWhatItIsFor) {
  HeapBuilder heap({.net = Net::net10});
  Opened opened(heap);
  NamedMethods runtime(*opened.target, opened.target->modules.at(0), opened.runtime.descriptor(), {});
  auto wait_of = [&](std::vector<std::string> names) {
    runtime.names = std::move(names);
    WalkedStack stack;
    for (u64 i = 0; i < runtime.names.size(); ++i) {
      StackFrame frame;
      frame.method_desc = i + 1;
      stack.frames.push_back(frame);
    }
    return waits_for(runtime, stack).text;
  };
  EXPECT_EQ(wait_of({"System.Threading.WaitHandle.WaitOne", "Shop.Gate.Pass"}), "a wait handle");
  EXPECT_EQ(wait_of({"System.Threading.WaitHandle.WaitOne", "System.Diagnostics.ProcessWaitState.WaitForExit",
                     "System.Diagnostics.Process.WaitForExit", "Shop.Printer.Convert"}),
            "the end of a process");
}

u64 id_of(const ThreadsOfSubject &found) { return found.threads.size() == 1 ? found.threads[0].os_id.value_or(0) : 0; }

// In a container OS ids are as small as managed ones.
TEST(ThreadText, ANumberThatCouldMeanTwoThreadsIsNoted) {
  std::vector<ThreadData> threads(3);
  for (u64 i = 0; i < 3; ++i) {
    threads[i].address = 0x1000 + i * 0x100;
    threads[i].managed_id = 1 + i;
  }
  threads[0].os_id = 3;
  threads[1].os_id = 2;
  threads[2].os_id = 40;
  const ThreadsOfSubject third = threads_of_subject(threads, "3");
  EXPECT_EQ(id_of(third), 3u);
  EXPECT_EQ(third.note,
            "3 is taken for an OS id; it is also the managed id of another thread; for that thread give its OS id 40");
  EXPECT_EQ(id_of(threads_of_subject(threads, "2")), 2u); // both numbers are of the same
  EXPECT_EQ(threads_of_subject(threads, "2").note, "");
  EXPECT_EQ(id_of(threads_of_subject(threads, "1")), 3u);
  EXPECT_EQ(threads_of_subject(threads, "1").note, "");
  EXPECT_EQ(id_of(threads_of_subject(threads, "0x1200")), 40u);
  EXPECT_EQ(threads_of_subject(threads, "").threads.size(), 3u);
  EXPECT_THROW(threads_of_subject(threads, "5"), Error);
}

} // namespace
} // namespace dnheap::test
