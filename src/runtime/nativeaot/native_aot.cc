#include "runtime/nativeaot/native_aot.h"

#include "runtime/nativeaot/native_aot_statics.h"
#include "runtime/unnamed_fields.h"

namespace dnheap {

NativeAot::NativeAot(const Target &target, const Module &module, std::string version, ContractDescriptor described,
                     const RuntimeHints &hints)
    : Runtime(target, module, std::move(version), std::move(described), hints), thread_(memory(), descriptor()) {
  require_heap();
  types_ = std::make_unique<RuntimeTypeSystemN1>(target, module, descriptor());
  fields_ = std::make_unique<UnnamedFields>(*types_, memory().format().pointer_size);
}

void NativeAot::use_debug_file(Bytes file, u64 bias, std::shared_ptr<const void> storage) {
  types_->use_symbols(NativeSymbols(file, bias, storage));
  auto named = std::make_unique<NativeAotFields>(memory(), *types_, file, bias, std::move(storage));
  named_fields_ = named.get();
  fields_ = std::move(named);
}

std::vector<StaticRoot> NativeAot::static_roots(std::vector<std::string> &problems) const {
  return NativeAotStatics(target(), module(), descriptor(), *types_, named_fields_).static_roots(problems);
}

} // namespace dnheap
