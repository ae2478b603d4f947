// Scopes of Microsoft.Extensions.DependencyInjection's service providers: how many services each keeps, and how many
// objects it will dispose of, in groups. A walk of the heap, and a pass over its references. Throws Interrupted. Not
// for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <map>
#include <string>

namespace dnheap {

struct ScopeKey {
  // kind: "root", "scope"; state: "in use", "disposed"; held_by: a field, as HoldingFields names it.
  std::string kind, state, held_by;
  auto operator<=>(const ScopeKey &) const = default;
};
struct ScopeGroup {
  u64 count = 0, services = 0, disposables = 0, most = 0; // most: disposables of one scope
  Address largest = 0;
};
using ScopeGroups = std::map<ScopeKey, ScopeGroup>;

inline constexpr const char *service_scope =
    "Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngineScope";

// `unknown`: how many have other fields than they should have.
ScopeGroups find_service_scopes(const Snapshot &snapshot, u64 &unknown);
// Returns how many objects of each MethodTable the scope will dispose of.
std::map<Address, u64> disposables_by_type(const Snapshot &snapshot, Address scope);

} // namespace dnheap
