// Events: delegates with two handlers or more, in groups by the field that holds them. Costs a walk of the heap, a pass
// over its references, and a look at each of the first 4 million handlers. Throws Interrupted. Not for several threads
// at once.
#pragma once
#include "snapshot/snapshot.h"

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace dnheap {

struct EventGroup {
  u64 publishers = 0, handlers = 0, most = 0; // most: of one publisher
  u64 target_bytes = 0;
  Address largest = 0; // the delegate with most handlers
  std::unordered_set<Address> targets;
  std::vector<Address> delegates;                             // one for each publisher, and their invocation lists
  std::map<std::pair<std::string, std::string>, u64> methods; // by method and the target's type
};
// By field, as HoldingFields names it, and type of delegate.
using EventGroups = std::map<std::pair<std::string, std::string>, EventGroup>;

struct FoundEvents {
  EventGroups groups;
  bool is_cut = false; // methods and targets of some handlers were not looked at
  u64 unknown = 0;     // delegates with other fields than they should have
};

// `least`: leaves out delegates with fewer handlers; if no delegate is left, the search ends there.
FoundEvents find_events(const Snapshot &snapshot, u64 least = 2);

} // namespace dnheap
