// AsyncCalls: pending asynchronous calls in groups: by the innermost method of the program on each stack, and by what
// that waits for. Costs a look at each stack. Not for several threads at once.
#pragma once
#include "analysis/names/framework_names.h"
#include "analysis/threads/async_stacks.h"

#include <set>
#include <span>

namespace dnheap {

struct CallGroup {
  std::string method, waits_for; // "Shop.Cart.Pay", "delay"
  u64 count = 0;
  u64 called = 0;               // how many of them another method awaits
  std::set<AsyncFrame> places;  // where they are suspended
  TaskNumber example = no_task; // the innermost method's task on one of these stacks
};

// Returns the groups in the order of methods. Stacks without a method of the program are in no group.
std::vector<CallGroup> group_calls(std::span<const AsyncStack> stacks, const FrameworkNames &framework);

// Returns the source line at which all calls of the group are suspended; nothing if there are several.
SourceLine line_of(const CallGroup &group, SourceLines &lines);

// Returns what a call waits for as part of a sentence: "a delay", "its turn to run", "HTTP"; empty: unknown.
std::string awaited_in_words(const std::string &waits_for);

} // namespace dnheap
