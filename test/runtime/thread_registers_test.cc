// Where the stack of a process's first thread begins, which grows while the process runs.
#include "runtime/thread_registers.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 at_random = 25;

std::vector<ThreadData> two_threads() {
  std::vector<ThreadData> out(2);
  out[0].stack_base = 0x900000;
  out[0].stack_limit = 0x800000;
  out[1].stack_base = 0x500000;
  out[1].stack_limit = 0x400000;
  return out;
}

TEST(FirstStack, IsAsLongAsItsMapping) {
  Target target;
  target.mappings = {{.start = 0x300000, .end = 0x600000}, {.start = 0x700000, .end = 0x900000}};
  target.auxv[at_random] = 0x8ff000;
  std::vector<ThreadData> threads = two_threads();
  widen_first_stack(target, threads);
  EXPECT_EQ(threads[0].stack_limit, 0x700000u);
  EXPECT_EQ(threads[1].stack_limit, 0x400000u); // what lies below is another's
}

TEST(FirstStack, StaysWhereNothingIsKnownOfIt) {
  for (int i = 0; i < 4; ++i) {
    Target target;
    target.auxv[at_random] = 0x8ff000;
    if (i == 0) // glibc says how far it may grow
      target.mappings = {{.start = 0x880000, .end = 0x900000}};
    if (i == 1)
      target.mappings = {{.start = 0x950000, .end = 0x990000}};
    if (i == 2) { // where the kernel put it is not known
      target.mappings = {{.start = 0x700000, .end = 0x900000}};
      target.auxv.clear();
    }
    std::vector<ThreadData> threads = two_threads();
    widen_first_stack(target, threads);
    EXPECT_EQ(threads[0].stack_limit, 0x800000u);
  }
}

} // namespace
} // namespace dnheap::test
