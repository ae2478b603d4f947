// OtherOwners: who else holds the objects of a suspect that several owners share: the suspect is called after the first
// of them, and nothing is freed as long as another one has them. Looks for owners that last (static fields, what flows
// with calls), not for methods on stacks. Costs a breadth-first search of the graph for each owner that is named, and
// one more. Throws Interrupted. Not for several threads at once.
#pragma once
#include "analysis/suspects/suspect.h"
#include "snapshot/snapshot.h"

#include <string>
#include <vector>

namespace dnheap {

struct OtherOwners {
  std::vector<std::string> names; // each reaches at least half of the objects that were looked at
  bool has_more = false;

  // "static Shop.BySlug.Map"; "static Shop.A.All, static Shop.B.All and others"; empty: there are none.
  std::string text() const;
};

OtherOwners find_other_owners(const Snapshot &snapshot, const Suspect &suspect);

// Finds them for the first suspects that several owners share and that hold much; for the others there are none.
std::vector<OtherOwners> find_other_owners(const Snapshot &snapshot, const std::vector<Suspect> &suspects, u64 live);

} // namespace dnheap
