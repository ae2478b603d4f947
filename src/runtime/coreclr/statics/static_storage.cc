#include "runtime/coreclr/statics/static_storage.h"

#include "runtime/coreclr/statics/auxiliary_statics.h"
#include "runtime/coreclr/statics/module_statics.h"

namespace dnheap {

std::unique_ptr<StaticStorage> static_storage(const Memory &memory, const ContractDescriptor &descriptor,
                                              const RuntimeTypeSystem1 &types, const FieldDescs &fields) {
  if (descriptor.find_field("MethodTable", "Token"))
    return std::make_unique<ModuleStatics>(memory, descriptor, types, fields);
  return std::make_unique<AuxiliaryStatics>(memory, descriptor, types);
}

} // namespace dnheap
