// ContinuationTypes: the types that .NET 11 makes at run time for the suspended calls of runtime-async methods, one for
// each layout of a call's saved variables. They derive from System.Runtime.CompilerServices.Continuation, have no row
// of metadata, and share one EEClass, which can point back at only one of them: so they are identified by that EEClass
// and their parent, both of which the target publishes. A few reads per type. Any thread. Source: dotnet/runtime
// src/coreclr/vm/asynccontinuations.cpp.
#pragma once
#include "contract/descriptor.h"
#include "target/memory.h"

#include <optional>
#include <string>

namespace dnheap {

class ContinuationTypes {
public:
  ContinuationTypes(const Memory &memory, const ContractDescriptor &descriptor);

  bool contains(Address method_table) const;
  // The MethodTable of Continuation itself; 0: the runtime has none.
  Address base() const { return base_; }
  // Continuation_<bytes of data>{_<offset in data>_<bytes of references>}, the runtime's own names.
  std::string name(Address method_table) const;

private:
  const Memory *memory_;
  const u64 p_;
  Address base_ = 0, shared_class_ = 0;
  u64 class_at_ = 0, parent_at_ = 0, base_size_at_ = 0;
};

} // namespace dnheap
