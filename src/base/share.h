// A part as a fraction of the whole, for columns of percents and for rules. Any thread.
#pragma once
#include "base/integers.h"

namespace dnheap {

// 0 of nothing.
constexpr double share_of(u64 part, u64 whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

} // namespace dnheap
