// What of a heap was not walked, for tests that compare sums, and what must hold of every dump that is cut off.
#pragma once
#include "heap/heap.h"

namespace dnheap::test {

u64 sum_of(std::span<const Gap> gaps);

// What came of walking the dump at `path`, whose file ends at byte `size`. Fails the current test unless the sums close
// and every gap has its reason, or the error is one line that begins with the path.
struct CutWalk {
  bool partial = false; // an answer with gaps
  std::string error;    // empty: an answer
};
CutWalk walk_cut_dump(const std::string &path, u64 size);

} // namespace dnheap::test
