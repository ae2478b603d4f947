// Vote: what a test says of each of many threads. Most decide: one may have been stopped while what is looked at
// changed, may have ended halfway, or may be damaged; four who agree outweigh one who does not.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

class Vote {
public:
  void add(bool passes) { ++(passes ? yes_ : no_); }
  // Cannot be known as long as nobody has voted.
  Verdict verdict() const { return yes_ + no_ == 0 ? Verdict::cannot_tell() : Verdict(no_ * 4 <= yes_ && yes_ > 0); }

private:
  u64 yes_ = 0, no_ = 0;
};

} // namespace dnheap
