// Merges many stacks into one tree, from the outermost methods inwards; a branch begins where stacks differ. For `stack
// --merge`. Linear in the methods of all stacks together; any thread.
#pragma once
#include "base/integers.h"

#include <span>
#include <string>
#include <vector>

namespace dnheap {

// Stacks that have the same methods.
struct AlikeStacks {
  std::vector<std::string> methods; // innermost first
  u64 threads = 0;
};

// A method and the number of threads in it, drawn as a branch. Repeats are one line: "Walk(Node) ×21,633",
// "(Ping(Int32) → Pong(Int32)) ×5,000".
struct StackTreeLine {
  u64 threads = 0;
  std::string text;
};

// Returns the lines; branches with most threads first, then by name. All elements of `stacks` must have different
// methods.
std::vector<StackTreeLine> stack_tree(std::span<const AlikeStacks> stacks);

} // namespace dnheap
