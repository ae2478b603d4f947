#include "analysis/owners/ranked_tree.h"

#include "objects/object_graph.h"

namespace dnheap {

namespace {

constexpr const char *own_passes[] = {"single references", "fanned out",     "depth-first search", "cross edges",
                                      "dominators",        "dominator tree", "retained sizes"};

} // namespace

RankedTree::RankedTree(const Snapshot &snapshot, std::span<const std::string> hubs)
    : owners(snapshot, hubs),
      tree(snapshot.graph().edges(), snapshot.sizes(), owners.view(), snapshot.threads(), snapshot.watch()) {}

std::shared_ptr<const RankedTree> ranked_tree(const Snapshot &snapshot, std::span<const std::string> hubs) {
  if (!hubs.empty())
    return std::make_shared<RankedTree>(snapshot, hubs);
  return snapshot.kept<RankedTree>([&] { return std::make_shared<RankedTree>(snapshot); });
}

void foresee_ranked(Plan &plan) {
  plan.then(Pass::graph | Pass::owned_roots).perhaps(Pass::live);
  for (const char *pass : own_passes)
    plan.then(pass);
}

void perhaps_ranked(Plan &plan) {
  plan.perhaps(Pass::graph | Pass::owned_roots | Pass::live);
  for (const char *pass : own_passes)
    plan.perhaps(pass);
}

} // namespace dnheap
