// MethodNames: the full name of a method, given its MethodDesc: type, name, type arguments and parameters, as the
// runtime's own tools and ClrMD write them; code that instantiations share has the shared arguments (System.__Canon). A
// few look-ups in the metadata; nothing is kept. From one thread at a time. Spec: dotnet/runtime
// docs/design/datacontracts/RuntimeTypeSystem.md; spelling: src/coreclr/vm/{typestring,sigformat}.cpp.
#pragma once
#include "runtime/coreclr/types/method_descs.h"
#include "runtime/facts/method_text.h"

namespace dnheap {

class MethodNames {
public:
  MethodNames(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types, Loader1 &loader);

  MethodText text(Address method) const;
  const MethodDescs &methods() const { return methods_; }

private:
  std::vector<Address> method_arguments(Address method) const;
  std::vector<std::string> names_of(const std::vector<Address> &handles) const;
  MethodText dynamic_text(Address method) const;

  const Memory *memory_;
  RuntimeTypeSystem1 *types_;
  Loader1 *loader_;
  MethodDescs methods_;
  const u64 p_;
  u64 arguments_, argument_count_; // of an InstantiatedMethodDesc
  u64 signature_, signature_size_; // of a StoredSigMethodDesc
};

} // namespace dnheap
