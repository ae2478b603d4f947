// OwnerParts: how much each owner holds, in parts that a developer can change separately. Objects that several owners
// share are a part of the first of them, as `report` and `path` name it; the DI container has one part for each type of
// service. Together the parts add up to Holding::owner_lines(). Costs these lines, a look at the container's inner
// objects and, if objects are shared, FirstOwners.
#pragma once
#include "analysis/owners/holding.h"

#include <string>
#include <vector>

namespace dnheap {

struct OwnerPart {
  static constexpr const char *shared = "shared"; // kind of the objects that several owners hold

  std::string source, kind; // as in RankedOwners::Owner; for shared objects, the first owner's source
  std::string part;         // the service's type; empty: the owner itself
  Retained retained;
};

// Returns the parts, most bytes first: one for each source and part; a source's shared objects are a part of their own.
std::vector<OwnerPart> owner_parts(Holding &holding);

// "the container of services … Shop.OrderBus"
std::string full_name(std::string_view owner, std::string_view part);

} // namespace dnheap
