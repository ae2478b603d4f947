// Resources: objects that stand for something outside of the heap and have a state (handles, connections, contexts),
// for inspectors: all of some base types, by type, state and the field that holds them, as a table. One walk of the
// heap and one pass over its references; 16 bytes and a text for each object. Throws Error, Interrupted. One thread.
#pragma once
#include "analysis/shapes/field_reader.h"
#include "report/answer.h"
#include "snapshot/snapshot.h"

#include <map>
#include <span>
#include <string>

namespace dnheap {

// In words: "open"; nullopt: its type has not the fields that tell it, or they are not in the dump.
using StateFunction = std::optional<std::string> (*)(FieldReader &fields, const Runtime &runtime, Address object);

struct ResourceKind {
  const char *base = "";         // the type, or what it derives from
  StateFunction state = nullptr; // null: it has none
};

// Whether `_disposed`, a bool or an int, is set: "disposed" or "in use".
std::optional<std::string> disposed_state(FieldReader &fields, const Runtime &runtime, Address object);

// The ConnectionState of an ADO.NET connection, whatever field a library keeps it in: "open", "closed", ….
std::optional<std::string> connection_state(FieldReader &fields, const Runtime &runtime, Address connection);
// "collectible, unloading": of an AssemblyLoadContext.
std::optional<std::string> context_state(FieldReader &fields, const Runtime &runtime, Address context);

// Adds a table of that name; of a type that derives from several kinds the first counts.
void add_resources(Snapshot &snapshot, const char *table, std::span<const ResourceKind> kinds, report::Answer &answer);

// A note for each type whose objects' states cannot be told, with how many these are.
void add_unknown_states(const std::map<std::string, u64> &unknown, report::Answer &answer);

} // namespace dnheap
