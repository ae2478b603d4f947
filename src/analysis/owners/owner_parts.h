// OwnerParts: who holds how much, in the parts that people change one by one. What several owners hold is a part of the
// first of them, as `report` and `path` name it; what the container of services holds is a part for each type of
// service. Together the parts are what Holding::owner_lines() has. Costs that, a look at what the container is made of,
// and where several owners hold something, FirstOwners.
#pragma once
#include "analysis/owners/holding.h"

#include <string>
#include <vector>

namespace dnheap {

struct OwnerPart {
  std::string source, kind; // of the owner: RankedOwners::Owner; the kind of what several hold is "shared"
  std::string name;         // the source, or "static Shop.Undo.Last and others"
  std::string part;         // the service's type; empty: the owner itself
  Retained retained;
};

// Those of one name and part are one. Most bytes first.
std::vector<OwnerPart> owner_parts(Holding &holding);

// "the container of services … Shop.OrderBus"
std::string full_name(std::string_view owner, std::string_view part);

} // namespace dnheap
