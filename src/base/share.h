// share_of: a part as a fraction of the whole, for percent columns and for rules. Any thread.
#pragma once
#include "base/integers.h"

namespace dnheap {

// Returns 0 if `whole` is 0.
constexpr double share_of(u64 part, u64 whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

} // namespace dnheap
