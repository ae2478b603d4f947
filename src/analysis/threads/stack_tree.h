// Many stacks as one tree, from the outermost methods inwards: where stacks part, a branch begins. For `stack --merge`.
// Linear in the methods of all stacks together; from any thread.
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

// A method with how many threads are in it, drawn as a branch. What repeats is one line: "Walk(Node) ×21,633",
// "(Ping(Int32) → Pong(Int32)) ×5,000".
struct StackTreeLine {
  u64 threads = 0;
  std::string text;
};

// Branches of most threads first, then by name. Each element of `stacks` has other methods than all others.
std::vector<StackTreeLine> stack_tree(std::span<const AlikeStacks> stacks);

} // namespace dnheap
