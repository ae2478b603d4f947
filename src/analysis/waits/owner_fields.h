// OwnerFields: the field that has an object, in words: "Shop.Pricing._gate" of a static field;
// "Shop.Pricing.Only._gate" of a field of the object in one. Built from all static roots and the references of their
// objects; a few reads for each. One thread.
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
  OwnerFields(Snapshot &snapshot, std::vector<Address> objects);

  struct Owner {
    std::string text;               // the field
    bool is_static = false;         // or a field of an object in a static one
    std::vector<std::string> types; // that have it: the static field's, that of the object in it
  };
  const Owner *find(Address object) const; // null: that is not known
  // Looks at one more object's fields, for those of which nothing is known yet.
  void add(Address holder);

private:
  void add_field(Address holder, const std::string &name, const std::string *type);

  const Runtime &runtime_;
  FieldReader fields_;
  ReferenceReader reader_;
  const std::vector<Address> objects_;
  std::map<Address, Owner> owners_;
};

// "Shop.Cart" of "Shop.Cart.Pay", "Shop.Cart+<>c.<Pay>b__0", "Shop.Cart..ctor" and "Shop.Cart._gate": methods that a
// compiler makes of one stand for it. Empty: it has no type.
std::string_view type_of_member(std::string_view member);

} // namespace dnheap
