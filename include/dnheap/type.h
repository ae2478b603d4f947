// Type: one type of the target, by its MethodTable: two instances of a generic type are two types. A value of two
// words, good as long as its Snapshot; use it from the Snapshot's thread. Names are read from the dump once, a few µs
// each, and kept; so are fields.
#pragma once
#include "dnheap/address.h"

#include <vector>

namespace dnheap::DNHEAP_ABI {

class State; // what a Snapshot is made of

struct Field {
  std::string name = {};                  // as in the metadata
  std::string type_name = {};             // empty: cannot be told
  std::uint64_t offset = 0;               // from the object's first byte, its MethodTable pointer
  std::optional<std::uint64_t> size = {}; // bytes
  bool is_reference = false;
};

class Type {
public:
  Address method_table() const { return method_table_; }
  // The full name: "System.Collections.Generic.List<Shop.Order>". Where it cannot be told, a text that says which type
  // it is: "Shop.dll!0x0200001f".
  const std::string &name() const;
  // "Shop.Core.dll", of an array its element's; empty: cannot be told.
  std::string assembly() const;
  // Nothing for Free, and for types that had no objects when the heap was walked.
  std::optional<TypeId> id() const;
  // Holes between objects look like objects of this type.
  bool is_free() const;
  bool is_array() const;
  // Inherited ones first. Empty for arrays, and where they cannot be told.
  std::vector<Field> fields() const;

  bool operator==(const Type &) const = default;

private:
  friend class State;
  Type(State *state, Address method_table) : state_(state), method_table_(method_table) {}
  State *state_;
  Address method_table_;
};

} // namespace dnheap::DNHEAP_ABI
