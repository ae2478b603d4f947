#include "analysis/threads/stack_tree.h"

#include "analysis/names/call_text.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

constexpr u64 most_branches = 30; // branches drawn within each other; deeper ones begin below their caller

// A method, or a repeated sequence of calls, in one or more stacks.
struct Node {
  std::string text;
  u64 threads = 0;
  std::map<std::string, u64> inner; // text → index of the node called from here
};

std::vector<Node> trie_of(std::span<const AlikeStacks> stacks) {
  std::vector<Node> nodes(1);
  for (const AlikeStacks &stack : stacks) {
    u64 at = 0;
    nodes[0].threads += stack.threads;
    const std::vector<std::string> outermost_first(stack.methods.rbegin(), stack.methods.rend());
    for (std::string &text : folded_calls(outermost_first, " → ")) {
      auto [inner, is_new] = nodes[at].inner.try_emplace(std::move(text), nodes.size());
      at = inner->second;
      if (is_new) {
        Node node;
        node.text = inner->first;
        nodes.push_back(std::move(node)); // invalidates `inner`
      }
      nodes[at].threads += stack.threads;
    }
  }
  return nodes;
}

} // namespace

std::vector<StackTreeLine> stack_tree(std::span<const AlikeStacks> stacks) {
  const std::vector<Node> nodes = trie_of(stacks);
  struct Pending {
    u64 node = 0;
    std::string lead;   // drawn before this node's line
    std::string behind; // drawn before the lines of its callees
    u64 branches = 0;   // number of branches around this node
  };
  std::vector<StackTreeLine> out;
  std::vector<Pending> pending = {{}};
  while (!pending.empty()) {
    const Pending at = std::move(pending.back());
    pending.pop_back();
    const Node &node = nodes[at.node];
    if (at.node)
      out.push_back({node.threads, at.lead + node.text});
    std::vector<u64> inner;
    u64 inside = 0;
    for (const auto &[text, index] : node.inner) {
      inner.push_back(index);
      inside += nodes[index].threads;
    }
    std::stable_sort(inner.begin(), inner.end(), [&](u64 a, u64 b) { return nodes[a].threads > nodes[b].threads; });
    // A callee that all threads enter is drawn directly below its caller.
    if (inner.size() == 1 && inside == node.threads) {
      pending.push_back({inner[0], at.behind, at.behind, at.branches});
      continue;
    }
    for (u64 i = inner.size(); i-- > 0;) { // pushed in reverse: the first one is taken next
      const bool is_last = i + 1 == inner.size();
      if (at.node == 0 || at.branches == most_branches)
        pending.push_back({inner[i], at.behind, at.behind, at.branches});
      else
        pending.push_back(
            {inner[i], at.behind + (is_last ? "└ " : "├ "), at.behind + (is_last ? "  " : "│ "), at.branches + 1});
    }
  }
  return out;
}

} // namespace dnheap
