// TypeLookup: finds the MethodTable that the runtime has loaded for a type in a signature. Nothing else shows the
// fields of a struct. For a generic type instantiated over references, the answer is the canonical MethodTable, which
// has the same layout. The first generic type, or name, costs one pass over all loaded types (some 10 ms for tens of
// thousands); later ones are look-ups. From one thread at a time. Spec: dotnet/runtime
// docs/design/datacontracts/Loader.md (maps), vm/typehash.cpp, vm/generics.cpp (canonical form).
#pragma once
#include "metadata/signature.h"
#include "runtime/coreclr/types/loaded_types.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

class TypeLookup {
public:
  TypeLookup(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types,
             Loader1 &loader);

  // `module` contains the signature; `arguments` are TypeHandles for its type variables. 0: not loaded, or it has no
  // MethodTable (pointers).
  Address find(const SignatureType &type, Address module, std::span<const Address> arguments);

private:
  Address find(const SignatureType &type, Address module, std::span<const Address> arguments, unsigned depth);
  Address find_token(Token type, Address module);
  Address find_instance(const SignatureType &type, Address module, std::span<const Address> arguments, unsigned depth);
  Address canonical_form(Address handle);
  Address named(const std::string &name, std::string_view assembly);
  Address in_map(const char *map, Address module, u32 rid) const;
  void load();

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  const RuntimeTypeSystem1 *types_;
  Loader1 *loader_;
  LoadedTypes loaded_;
  bool is_loaded_ = false;
  std::map<std::vector<Address>, Address> instances_;             // {module, rid, arguments}
  std::unordered_map<std::string, std::vector<Address>> by_name_; // by full name; in the order of modules
  Address canon_ = 0;                                             // System.__Canon
};

} // namespace dnheap
