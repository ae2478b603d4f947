#include "support/gaps.h"

#include "snapshot/snapshot.h"

#include <gtest/gtest.h>

namespace dnheap::test {

u64 sum_of(std::span<const Gap> gaps) {
  u64 sum = 0;
  for (const Gap &gap : gaps)
    sum += gap.end - gap.start;
  return sum;
}

CutWalk walk_cut_dump(const std::string &path, u64 size) {
  CutWalk out;
  try {
    auto snapshot = Snapshot::open(path);
    const HeapTally &tally = snapshot->tally();
    const Heap &of = snapshot->heap();
    EXPECT_EQ(tally.walk.bytes + of.context_bytes() + sum_of(of.gaps()) + tally.walk.gaps.bytes(), of.segment_bytes());
    for (const Gap &gap : of.gaps())
      EXPECT_EQ(gap.reason, "cut off: the file ends at byte " + std::to_string(size));
    out.partial = !of.gaps().empty();
  } catch (const Error &e) {
    out.error = e.what();
    EXPECT_TRUE(out.error.starts_with(path + ": ")) << out.error;
    EXPECT_EQ(out.error.find('\n'), out.error.npos) << out.error;
  }
  return out;
}

} // namespace dnheap::test
