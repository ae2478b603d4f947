// FieldPath: a field of an object as people write it, "_customer._name": from an object to the object that a field
// refers to, and into structs. A property's name stands for its backing field. One look-up per type and step. Not for
// several threads at once.
#pragma once
#include "analysis/shapes/collections/entry_list.h"
#include "analysis/shapes/collections/entry_places.h"

#include <string>
#include <vector>

namespace dnheap {

class FieldPath {
public:
  // An empty name: no field, as "a..b" has one.
  FieldPath(const Runtime &runtime, EntryPlaces &places, std::string_view text);

  // True if objects of this type have the first field.
  bool begins_in(Address method_table) { return first_in(method_table).type != nullptr; }
  // Returns where the field is; nothing if the type has no such field, or a reference on the way is null.
  EntryPart in(Address object);
  const std::string &text() const { return text_; }

private:
  EntryPlace first_in(Address method_table) { return place_in(method_table, steps_.front()); }
  EntryPlace place_in(Address method_table, const std::string &step);
  EntryPlace place_in(const InstanceField &type, const std::string &step);

  const Runtime &runtime_;
  EntryPlaces &places_;
  const std::string text_;
  std::vector<std::string> steps_;
};

} // namespace dnheap
