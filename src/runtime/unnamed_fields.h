// UnnamedFields: for kinds of runtimes that publish the offsets of references, but not their names: elements of arrays
// are named by their index, everything else by its offset: "[17]", "[*].0x8", ".0x18". From one thread at a time.
#pragma once
#include "runtime/fields.h"
#include "runtime/type_system.h"

namespace dnheap {

class UnnamedFields : public Fields {
public:
  // `types` must outlive this object.
  UnnamedFields(const TypeSystem &types, u64 pointer_size) : Fields(pointer_size), types_(types) {}

  std::optional<ElementShape> elements(Address method_table) override;
  ReferenceName reference(Address method_table, u64 offset) override;
  std::string exact_reference(Address object, Address method_table, u64 offset) override;

private:
  // For an array type, the place of its elements; else size 0.
  const ElementShape &shape(Address method_table);
  std::string within(const ElementShape &shape, u64 offset) const;

  const TypeSystem &types_;
  std::unordered_map<Address, ElementShape> shapes_;
};

} // namespace dnheap
