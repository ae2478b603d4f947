// GapList: the gaps that a walk finds, by address. Keeps the first 65,536; of the others only their number, their
// bytes, and one stretch that contains them all, since in a hostile dump every other word may be a gap. Memory: 2 MiB
// at most. Not thread-safe.
#pragma once
#include "heap/heap.h"

#include <algorithm>

namespace dnheap {

class GapList {
public:
  static constexpr u64 most = 1 << 16;

  // `gap` must lie after all gaps added before.
  void add(const Gap &gap);
  // Adds the gaps of another part of the heap, before, after or among these.
  void merge(const GapList &other);

  bool empty() const { return count_ == 0; }
  u64 count() const { return count_; }
  u64 bytes() const { return bytes_; }
  // Returns the single gaps; all others lie after them.
  std::span<const Gap> listed() const { return listed_; }
  // Returns stretches that contain all gaps: those listed and, if there are more, one for all others, which has objects
  // between them.
  std::vector<Gap> stretches() const;

private:
  void fold(const Gap &gap);

  std::vector<Gap> listed_;
  Address rest_start_ = 0, rest_end_ = 0; // of the unlisted gaps; empty: all are listed
  u64 count_ = 0, bytes_ = 0;
};

} // namespace dnheap
