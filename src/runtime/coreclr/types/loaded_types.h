// LoadedTypes: the modules that an application has loaded, and the types of each: GetModuleHandles,
// TypeDefToMethodTable and GetAvailableTypeParams of the Loader contract. A few reads per module and one per type;
// nothing is kept. Lists are capped. Any thread. Spec: dotnet/runtime docs/design/datacontracts/Loader.md.
#pragma once
#include "base/notes.h"
#include "runtime/coreclr/types/runtime_type_system_1.h"

#include <string>
#include <vector>

namespace dnheap {

class LoadedTypes {
public:
  LoadedTypes(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types);

  // Returns the modules in load order. The reason for a list that ends early is added to `notes`. Throws Error if the
  // list is not found.
  std::vector<Address> modules(Notes &notes) const;
  // Returns MethodTables of the types that the module defines, of instantiations that belong to it, and of arrays.
  std::vector<Address> types(Address module, Notes &notes) const;

private:
  Address module_of_element(Address element) const;
  void add_defined(Address module, std::vector<Address> &to) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  const RuntimeTypeSystem1 *types_;
  const u64 p_;
};

} // namespace dnheap
