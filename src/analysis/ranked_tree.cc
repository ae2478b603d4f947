#include "analysis/ranked_tree.h"

#include "objects/object_graph.h"

namespace dnheap {

RankedTree::RankedTree(Snapshot &snapshot, std::span<const std::string> hubs)
    : owners(snapshot, hubs),
      tree(snapshot.graph().edges(), snapshot.sizes(), owners.view(), snapshot.threads(), snapshot.watch()) {}

std::shared_ptr<const RankedTree> ranked_tree(Snapshot &snapshot, std::span<const std::string> hubs) {
  if (!hubs.empty())
    return std::make_shared<RankedTree>(snapshot, hubs);
  return snapshot.kept<RankedTree>([&] { return std::make_shared<RankedTree>(snapshot); });
}

void foresee_ranked(Plan &plan) {
  plan.then(Pass::graph | Pass::owned_roots).perhaps(Pass::live);
  for (const char *pass : {"single references", "fanned out", "depth-first search", "cross edges", "dominators",
                           "dominator tree", "retained sizes"})
    plan.then(pass);
}

} // namespace dnheap
