// Pass: a result that a Snapshot computes once and keeps. Callers that need several announce them (Snapshot::prepare),
// so that they run in the best order and no walk is done twice, and their names can be shown in advance. Any thread.
#pragma once
#include "base/enum_set.h"

#include <string_view>
#include <vector>

namespace dnheap {

// In the best order of execution. One walk computes both index and tally.
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

// Returns these passes and all that they depend on.
Passes with_foundations(Passes passes);

// Returns the Progress names of these passes and of those they depend on, in order.
std::vector<std::string_view> names_of(Passes passes);

} // namespace dnheap
