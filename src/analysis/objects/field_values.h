// The contents of an object's fields and an array's elements, including fields inside structs: for `show`. Values are
// read only if they are asked for, because they may be secrets.
#pragma once
#include "report/table.h"
#include "runtime/coreclr/enum_names.h"
#include "runtime/runtime.h"

namespace dnheap {

struct FieldValue {
  u64 offset = 0;          // from the object's first byte
  std::string name;        // "StateMachine.held", "[17].key"
  std::string type;        // empty: unknown
  Address reference = 0;   // the object that it refers to; 0: null, or no reference
  report::Cell value;      // the value; absent: not asked for, null, a struct without a value of its own, or not in the
                           // dump
  std::string text;        // the same for people, as C# would write it
  std::string declared_by; // the declaring type; empty: an element, or unknown
};

class FieldValues {
public:
  static constexpr u64 most_fields = 10000; // per object, because an inline array may have any number of them

  explicit FieldValues(const Runtime &runtime);

  // Returns the fields in the order of memory, a struct before its parts, or without them if its value is shown. Empty
  // for arrays.
  std::vector<FieldValue> fields(Address object, Address method_table, bool values);
  // Reads the names of the values of the enums that occur as a type's fields or elements. Reads no object.
  void learn_enums(Address method_table);
  // Returns elements with their values, at most `most` rows. `size`: of the array, in bytes.
  std::vector<FieldValue> elements(Address object, u64 size, const ElementShape &shape, u64 most);
  // Returns the value at a place outside of a known object, and if it is a struct without a value of its own the fields
  // in it, whose names begin with ".", at most `most` rows.
  std::vector<FieldValue> place(Address at, const InstanceField &type, bool values, u64 most);
  // Returns the value of an object that is a single value: a string, or a boxed struct that struct_text() knows.
  FieldValue whole(Address object, Address method_table);

private:
  const Runtime &runtime_;
  EnumNames enums_;
};

} // namespace dnheap
