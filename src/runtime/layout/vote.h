// Vote: joins the results of a test on each of many threads. Most decide: a thread may have been stopped while the
// tested data changed, may have ended halfway, or may be damaged; four that agree outweigh one that does not.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

class Vote {
public:
  void add(bool passes) { ++(passes ? yes_ : no_); }
  // Unknown as long as nobody has voted.
  Verdict verdict() const { return yes_ + no_ == 0 ? Verdict::cannot_tell() : Verdict(no_ * 4 <= yes_ && yes_ > 0); }

private:
  u64 yes_ = 0, no_ = 0;
};

} // namespace dnheap
