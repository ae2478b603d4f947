// Pass: what a Snapshot works out and keeps. Whoever asks for several says so beforehand (Snapshot::prepare), so that
// they are done in the best order and no walk is done twice; whoever waits can be told their names. Any thread.
#pragma once
#include "base/enum_set.h"

#include <string_view>
#include <vector>

namespace dnheap {

// In the order in which they are best done. One walk gives index and tally.
enum class Pass : u8 {
  runtime,
  heap,
  index,
  tally,
  roots,
  references,
  live,
  graph,
  owners,
  owned_roots,
  dominators,
};
inline constexpr u32 pass_count = 11;
using Passes = EnumSet<Pass>;

constexpr Passes operator|(Pass a, Pass b) { return {a, b}; }

inline constexpr Passes all_passes = Passes::of_bits((u32{1} << pass_count) - 1);

// These and all that they rest on.
Passes with_foundations(Passes passes);

// The names that Progress has of these and what they rest on, in their order.
std::vector<std::string_view> names_of(Passes passes);

} // namespace dnheap
