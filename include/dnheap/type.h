// Type: one type of the target, by its MethodTable: two instances of a generic type are two types. A value of two
// words, valid as long as its Snapshot; use it from the Snapshot's thread. Names are read from the dump once, a few µs
// each, and kept; so are fields.
#pragma once
#include "dnheap/address.h"

#include <vector>

namespace dnheap::DNHEAP_ABI {

class State; // the data of a Snapshot

struct Field {
  std::string name = {};                  // as in the metadata
  std::string type_name = {};             // empty: unknown
  std::uint64_t offset = 0;               // from the object's first byte, its MethodTable pointer
  std::optional<std::uint64_t> size = {}; // bytes
  bool is_reference = false;
};

class Type {
public:
  Address method_table() const { return method_table_; }
  // Returns the full name: "System.Collections.Generic.List<Shop.Order>". If it is unknown, returns a text that
  // identifies the type: "Shop.dll!0x0200001f".
  const std::string &name() const;
  // Returns "Shop.Core.dll", for an array the assembly of its element; empty: unknown.
  std::string assembly() const;
  // Nullopt for Free, and for types that had no objects when the heap was walked.
  std::optional<TypeId> id() const;
  // True for the type of the Free objects that fill holes between objects.
  bool is_free() const;
  bool is_array() const;
  // Inherited fields come first. Empty for arrays, and if the fields are unknown.
  std::vector<Field> fields() const;

  bool operator==(const Type &) const = default;

private:
  friend class State;
  Type(State *state, Address method_table) : state_(state), method_table_(method_table) {}
  State *state_;
  Address method_table_;
};

} // namespace dnheap::DNHEAP_ABI
