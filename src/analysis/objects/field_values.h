// What an object's fields and an array's elements hold, the fields inside structs with them: for `show`. Values are
// read only when asked for: they may be anybody's secrets.
#pragma once
#include "report/table.h"
#include "runtime/coreclr/enum_names.h"
#include "runtime/runtime.h"

namespace dnheap {

struct FieldValue {
  u64 offset = 0;          // from the object's first byte
  std::string name;        // "StateMachine.held", "[17].key"
  std::string type;        // empty: cannot be told
  Address reference = 0;   // what it refers to; 0: null, or no reference
  report::Cell value;      // as it is; absent: not asked for, null, a struct that is no value, or not in the dump
  std::string text;        // the same for people, as C# would write it
  std::string declared_by; // the type; empty: an element, or cannot be told
};

class FieldValues {
public:
  static constexpr u64 most_fields = 10000; // of one object: inline arrays have as many as they like

  explicit FieldValues(const Runtime &runtime);

  // In the order of memory, a struct before its parts, or instead of them where its value is told. Empty for arrays.
  std::vector<FieldValue> fields(Address object, Address method_table, bool values);
  // Reads what enums among a type's fields and elements call their values, and of no object anything.
  void learn_enums(Address method_table);
  // With their values, `most` rows at most. `size`: of the array, in bytes.
  std::vector<FieldValue> elements(Address object, u64 size, const ElementShape &shape, u64 most);
  // Of an object that is one value: a string, a boxed struct of those that struct_text() knows.
  FieldValue whole(Address object, Address method_table);

private:
  const Runtime &runtime_;
  EnumNames enums_;
};

} // namespace dnheap
