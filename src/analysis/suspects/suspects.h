// Suspects: who holds most of the live memory, described so that a developer recognizes the place: the owner, the path
// from it to the collection (chain, object) where the bytes spread out, and the contents. The search goes down the
// dominator tree of RankedOwners from each owner, as long as one object holds most of the bytes. Costs that tree (the
// snapshot's graph, some 40 bytes per object) and a look at the children of the objects on the path. Not for several
// threads at once.
#pragma once
#include "analysis/owners/reached_objects.h"
#include "analysis/plan.h"
#include "analysis/suspects/suspect.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

struct Suspects {
  std::vector<Suspect> list;            // most bytes first
  u64 live_objects = 0, live_bytes = 0; // everything that the roots reach
  u64 suspects_bytes = 0;               // of the list; no byte counts twice
  KeptResources kept;
  std::optional<ReachedObjects> live; // objects that the roots reach
};

// Returns the suspects that hold at least `least_share` of the live bytes, 32 at most. `hubs`: as for RankedOwners.
Suspects find_suspects(const Snapshot &snapshot, std::span<const std::string> hubs = {}, double least_share = 0.02);

// Adds the cost of find_suspects to the plan.
void foresee_suspects(Plan &plan);

} // namespace dnheap
