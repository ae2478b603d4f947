#include "runtime/coreclr/core_clr_il.h"

#include "runtime/coreclr/types/loaded_types.h"

namespace dnheap {

CoreClrIl::CoreClrIl(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types,
                     Loader1 &loader, const CodeLookup &code)
    : memory_(&target.memory), descriptor_(&descriptor), types_(&types), loader_(&loader), code_(&code),
      methods_(target, descriptor, types, loader), offsets_(target.memory, code) {}

std::optional<MetadataRow> CoreClrIl::find_method(Address method) const {
  if (!methods_.is_method_desc(method) || methods_.is_dynamic(method))
    return std::nullopt;
  return MetadataRow{types_->module_of(methods_.method_table_of(method)), methods_.row(method)};
}

std::vector<Address> CoreClrIl::modules(Notes &notes) const {
  return LoadedTypes(*memory_, *descriptor_, *types_).modules(notes);
}

} // namespace dnheap
