// Resources: objects that stand for something outside of the heap and have a state (handles, connections, contexts).
// For inspectors: lists all objects of some base types as a table, by type, state and the field that holds them. One
// walk of the heap and one pass over its references; 16 bytes and a text for each object. Throws Error, Interrupted.
// Not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"
#include "report/answer.h"
#include "snapshot/snapshot.h"

#include <map>
#include <span>
#include <string>

namespace dnheap {

// Returns the state in words: "open"; nullopt if the type does not have the fields for it, or they are not in the dump.
using StateFunction = std::optional<std::string> (*)(FieldReader &fields, const Runtime &runtime, Address object);

// Returns when the object began, on the clock of ticks (process_clock.h); 0: unknown.
using StartFunction = u64 (*)(FieldReader &fields, Address object);

struct ResourceKind {
  const char *base = "";         // the name of the type, or of one of its base types
  StateFunction state = nullptr; // null: the kind has no state
  StartFunction start = nullptr; // null: the kind has no ages
};

// Returns "disposed" if the field `_disposed`, a bool or an int, is set, else "in use".
std::optional<std::string> disposed_state(FieldReader &fields, const Runtime &runtime, Address object);

// Returns the ConnectionState of an ADO.NET connection, whichever field a library keeps it in: "open", "closed", ….
std::optional<std::string> connection_state(FieldReader &fields, const Runtime &runtime, Address connection);
// Returns the state of an AssemblyLoadContext: "collectible, unloading".
std::optional<std::string> context_state(FieldReader &fields, const Runtime &runtime, Address context);

// Adds a table of that name. A type that derives from several kinds counts for the first one. Ages are shown if one of
// the kinds has them.
void add_resources(const Snapshot &snapshot, const char *table, std::span<const ResourceKind> kinds,
                   report::Answer &answer);

// Adds a note for each type whose objects' states are unknown, with their number.
void add_unknown_states(const std::map<std::string, u64> &unknown, report::Answer &answer);

} // namespace dnheap
