// Captured values: the values of AsyncLocals that ExecutionContexts carry, in groups by AsyncLocal and type of value.
// Whatever is made while a value is current (a timer, a registration for cancellation, a call that waits) captures the
// context, and keeps the value alive as long as it lives itself. A walk of the heap, a pass over its references, and
// Snapshot::live(); 24 bytes for each value of each context, and some 100 for each different value. Throws Interrupted.
// Not for several threads at once.
#pragma once
#include "algorithms/dominator_tree.h"
#include "snapshot/snapshot.h"

#include <string>
#include <vector>

namespace dnheap {

inline constexpr const char *execution_context = "System.Threading.ExecutionContext";

// What captured contexts: the field that holds most of them.
struct Captor {
  std::string field; // as HoldingFields names it
  std::string calls; // the method that most of these timers or registrations call; empty: unknown, or another field
  u64 contexts = 0;  // that this field holds
};

struct CapturedValues {
  std::string local;                       // the field that holds the AsyncLocal, as HoldingFields names it
  std::string local_type;                  // "System.Threading.AsyncLocal<Shop.Order>"
  std::string value_type;                  // empty: null
  u64 contexts = 0, values = 0, bytes = 0; // contexts that carry one; different values, and their own bytes
  Captor captor;
  Address example = 0; // a context
  // Values that nothing holds but contexts, and no call in flight carries; ascending.
  std::vector<Address> kept;
  u64 kept_contexts = 0; // that carry these
  Captor kept_by;        // what captured these
};

struct FoundCaptures {
  std::vector<CapturedValues> groups; // the one with most contexts first
  u64 unknown = 0;                    // contexts and maps with other fields than they should have
  bool is_cut = false;                // there are more values than were looked at
};

// Whether a field that captures contexts, as HoldingFields names it, is that of timers, or of registrations for
// cancellation.
bool is_field_of_timers(const std::string &field);
bool is_field_of_registrations(const std::string &field);

// Looks at contexts that something keeps alive; at all of them if no root is known. `least`: if there is no group with
// as many values that no call in flight carries, the search ends before it looks for holders, with no groups. `tree`,
// if there is one already, shows what is alive; Snapshot::live() is not computed for that then.
FoundCaptures find_captured_values(const Snapshot &snapshot, u64 least = 0, const DominatorTree *tree = nullptr);

} // namespace dnheap
