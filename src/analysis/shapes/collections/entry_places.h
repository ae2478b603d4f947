// EntryPlaces: where the parts of entries lie in nodes and elements, by the names of fields: "_value._firstValue.key".
// A path is looked up once per type and kept, some µs; the fields of structs have the types of their generic instance.
// Not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <map>
#include <memory>

namespace dnheap {

// A place in an object or in an element: its offset from the first byte, and its declared type.
struct EntryPlace {
  const InstanceField *type = nullptr; // null: there is no such field
  u64 offset = 0;
};

class EntryPlaces {
public:
  explicit EntryPlaces(const Runtime &runtime) : runtime_(runtime) {}

  // Returns the place in an object of this type.
  EntryPlace in_object(Address method_table, const std::string &path);
  // Returns the place in a struct of this type; an empty path: the struct itself.
  EntryPlace in_value(const InstanceField &type, const std::string &path);
  // Returns the elements' type; null: it is not an array type.
  struct Elements {
    const InstanceField *type = nullptr;
    ElementShape shape;
  };
  const Elements *elements(Address array_type);
  // Returns the type of a reference to any object.
  const InstanceField *object() const { return &object_; }

private:
  const std::vector<InstanceField> &fields_of(const InstanceField &type);

  const Runtime &runtime_;
  std::map<std::pair<Address, std::string>, EntryPlace> in_objects_;
  std::map<std::pair<const InstanceField *, std::string>, EntryPlace> in_values_;
  // By MethodTable and name: several instances share a MethodTable.
  std::map<std::pair<Address, std::string>, std::vector<InstanceField>> fields_;
  struct Array {
    InstanceField type;
    Elements elements;
  };
  std::map<Address, std::unique_ptr<Array>> arrays_; // null: it is none
  const InstanceField object_ = [] {
    InstanceField out;
    out.type = ElementType::Class;
    out.type_name = "System.Object";
    return out;
  }();
};

} // namespace dnheap
