// What stands for a method that is not known.
#include "analysis/thread_text.h"
#include "base/text.h"
#include "snapshot/snapshot.h"
#include "support/heap_builder.h"

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

} // namespace
} // namespace dnheap::test
