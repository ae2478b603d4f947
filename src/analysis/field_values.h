// What an object's fields and an array's elements hold, in words, the fields inside structs with them: for `show`.
// Values are read only when asked for: they may be anybody's secrets.
#pragma once
#include "report/table.h"
#include "runtime/runtime.h"

namespace dnheap {

struct FieldValue {
  u64 offset = 0;          // from the object's first byte
  std::string name;        // "StateMachine.held", "[17].key"
  std::string type;        // empty: cannot be told
  Address reference = 0;   // what it refers to; 0: null, or no reference
  report::Cell value;      // absent: not asked for, null, a struct, or not in the dump
  std::string declared_by; // the type; empty: an element, or cannot be told
};

// In the order of memory, a struct before its parts. Empty for arrays.
std::vector<FieldValue> object_fields(const Runtime &runtime, Address object, Address method_table, bool values);

// With their values, `most` rows at most. `size`: of the array, in bytes.
std::vector<FieldValue> array_elements(const Runtime &runtime, Address object, u64 size, const ElementShape &shape,
                                       u64 most);

// A string's contents in quotes, cut when they are long; nullopt: not in the dump.
std::optional<std::string> quoted_string(const Runtime &runtime, Address object);

} // namespace dnheap
