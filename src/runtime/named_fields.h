// NamedFields: Fields (fields.h) of runtimes that have field names. Finds a reference by its offset, once a subclass
// has listed the references of its type. Costs, and the rule for threads: see fields.h.
#pragma once
#include "runtime/fields.h"
#include "runtime/reference_layout.h"
#include "target/memory.h"

#include <memory>

namespace dnheap {

class NamedFields : public Fields {
public:
  // `memory` must outlive this object.
  NamedFields(const Memory &memory, u64 pointer_size) : Fields(pointer_size), memory_(&memory) {}

  const std::vector<InstanceField> &instance_fields(Address method_table) override;
  ReferenceName reference(Address method_table, u64 offset) override;
  std::string exact_reference(Address object, Address method_table, u64 offset) override;

protected:
  struct TypeNames {
    ReferenceLayout layout; // by offset in the object; for an array, in an element
    std::optional<ElementShape> array;
  };

  // Both are called once per type; the layout is returned sealed.
  virtual std::vector<InstanceField> read_fields(Address method_table) = 0;
  virtual TypeNames build_names(Address method_table) = 0;

  const Memory *memory_;

private:
  TypeNames &names_of(Address method_table);
  // Returns the reference at that offset, and the number of its element at each level; null: none lies there.
  ReferenceLayout::Reference *locate(TypeNames &names, u64 offset, std::vector<u64> *elements);
  std::string unnamed(const TypeNames &names, u64 offset) const;

  std::unordered_map<Address, std::vector<InstanceField>> fields_; // a list's address is stable while others are added
  std::unordered_map<Address, std::unique_ptr<TypeNames>> names_;
  Address last_ = 0; // the last type passed to reference()
  TypeNames *last_names_ = nullptr;
};

} // namespace dnheap
