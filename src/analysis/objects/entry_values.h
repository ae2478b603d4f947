// EntryValues: reads keys, values and elements of collections for people and for programs: the object that a part
// refers to and, if contents are asked for, the text of a string, a number, or the fields of a struct. Some reads per
// part. Not for several threads at once.
#pragma once
#include "analysis/objects/field_values.h"
#include "analysis/shapes/collections/collection_entries.h"

namespace dnheap {

struct EntryValue {
  Address object = 0; // the object that it refers to; 0: null, or no reference
  std::string type;   // the object's, or the declared one of a value; empty: unknown
  report::Cell value; // the content; absent: not asked for, null, an object without a value, or not in the dump
  std::string text;   // the same for people; an object without a value is its address and type
};

class EntryValues {
public:
  EntryValues(const Runtime &runtime, const CollectionEntries &entries)
      : runtime_(runtime), entries_(entries), values_(runtime) {}

  EntryValue of(const EntryPart &part, bool values);

private:
  EntryValue of_object(Address object, bool values);
  void add_content(EntryValue &out, Address at, const InstanceField &type, bool values);

  const Runtime &runtime_;
  const CollectionEntries &entries_;
  FieldValues values_;
};

} // namespace dnheap
