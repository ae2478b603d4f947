// GapList: the gaps that a walk finds, by address. The first 65,536 are kept, of the others how many there are, their
// bytes, and the stretch in which all of them lie: in a hostile dump every other word may be one. Memory: 2 MiB at
// most. One thread for each.
#pragma once
#include "heap/heap.h"

#include <algorithm>

namespace dnheap {

class GapList {
public:
  static constexpr u64 most = 1 << 16;

  // Behind all that were added before.
  void add(const Gap &gap);
  // Those of another part of the heap, before, behind or among these.
  void merge(const GapList &other);

  bool empty() const { return count_ == 0; }
  u64 count() const { return count_; }
  u64 bytes() const { return bytes_; }
  // One by one; what is not among them lies behind them.
  std::span<const Gap> listed() const { return listed_; }
  // Stretches in which all gaps lie: those listed and, if there are more, one for all others, objects between them.
  std::vector<Gap> stretches() const;

private:
  void fold(const Gap &gap);

  std::vector<Gap> listed_;
  Address rest_start_ = 0, rest_end_ = 0; // of those not listed; empty: all are
  u64 count_ = 0, bytes_ = 0;
};

} // namespace dnheap
