// OwnerFields: names the field that has an object: "Shop.Pricing._gate" for a static field; "Shop.Pricing.Only._gate"
// for a field of the object in a static field. Built from all static roots and the references of their objects; a few
// reads for each. Not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"
#include "objects/references.h"
#include "objects/roots.h"

#include <map>
#include <string>
#include <vector>

namespace dnheap {

class Snapshot;

class OwnerFields {
public:
  // `objects`: ascending.
  OwnerFields(const Snapshot &snapshot, std::vector<Address> objects);

  struct Owner {
    std::string text;               // the field
    bool is_static = false;         // the field is static, or a field of an object in a static field
    std::vector<std::string> types; // types that have the field: the static field's type, the type of the object in it
  };
  const Owner *find(Address object) const; // null: unknown
  // Looks for wanted objects whose field is still unknown in the fields of one more object.
  void add(Address holder);

private:
  void add_field(Address holder, const std::string &name, const std::string *type);

  const Runtime &runtime_;
  FieldReader fields_;
  ReferenceReader reader_;
  const std::vector<Address> objects_;
  std::map<Address, Owner> owners_;
};

// Returns "Shop.Cart" for "Shop.Cart.Pay", "Shop.Cart+<>c.<Pay>b__0", "Shop.Cart..ctor" and "Shop.Cart._gate": a method
// that a compiler makes from another one counts as that one. Empty: the text does not name a type.
std::string_view type_of_member(std::string_view member);

} // namespace dnheap
