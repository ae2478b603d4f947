// Types of CoreRT's memory format (NF16), version 1.0: the size of objects, from their EEType (the specification also
// calls it MethodTable). The format has no names, and does not mark the type of Free objects: they look like any other
// array. Spec: corert-debug-format.md. object_layout() costs two loads; threads as in type_system.h.
#pragma once
#include "base/notes.h"
#include "runtime/type_system.h"
#include "target/target.h"

#include <unordered_map>

namespace dnheap {

// The EEType contract section. The debug header does not lead to it, so a caller that knows its address must supply the
// address. Without the section, the offsets are those in the Workstation GC contract's rule for sizes.
struct EETypeContractNf16 {
  u32 base_size = 4;      // of a u32
  u32 component_size = 0; // of a u16
};
// Throws Error if the section cannot be read, or its version is not 1.
EETypeContractNf16 read_eetype_contract(const Memory &memory, Address section);

class TypeSystemNf16 : public TypeSystem {
public:
  explicit TypeSystemNf16(const Target &target, EETypeContractNf16 contract = {})
      : target_(&target), contract_(contract) {}

  Address free_object_method_table() const override { return 0; }
  // The only possible test is that the sizes are plausible.
  std::optional<ObjectLayout> object_layout(Address eetype) const override;
  // "shop.exe!0x104a0": the module and the address in it; "<type 0x7f…>" for types made at run time.
  const std::string &name(Address eetype) override;
  Notes notes() const override;

private:
  const Target *target_;
  EETypeContractNf16 contract_;
  std::unordered_map<Address, std::string> names_;
};

} // namespace dnheap
