// Types of CoreRT's memory format (NF16), version 1.0: what an EEType (the specification also says MethodTable) says of
// the size of objects. The format has no names, and does not say which type Free objects are of: they look like any
// other array's. Spec: corert-debug-format.md. object_layout() costs two loads; threads as in type_system.h.
#pragma once
#include "runtime/type_system.h"
#include "target/target.h"

#include <unordered_map>

namespace dnheap {

// The EEType contract section. The debug header leads to no such section, so whoever knows its address must say so;
// without it the offsets are those that the Workstation GC contract's rule for sizes has.
struct EETypeContractNf16 {
  u32 base_size = 4;      // of a u32
  u32 component_size = 0; // of a u16
};
// Throws Error when the section cannot be read or is of another version than 1.
EETypeContractNf16 read_eetype_contract(const Memory &memory, Address section);

class TypeSystemNf16 : public TypeSystem {
public:
  explicit TypeSystemNf16(const Target &target, EETypeContractNf16 contract = {})
      : target_(&target), contract_(contract) {}

  Address free_object_method_table() const override { return 0; }
  // All that can be tested is that the sizes are possible.
  std::optional<ObjectLayout> object_layout(Address eetype) const override;
  // "shop.exe!0x104a0": the module and the address in it; "<type 0x7f…>" for types made while the program ran.
  const std::string &name(Address eetype) override;
  std::vector<std::string> problems() const override;

private:
  const Target *target_;
  EETypeContractNf16 contract_;
  std::unordered_map<Address, std::string> names_;
};

} // namespace dnheap
