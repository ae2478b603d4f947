#include "runtime/coreclr/core_clr_exceptions.h"

#include "runtime/coreclr/threads/thrown_exceptions.h"

namespace dnheap {

CoreClrExceptions::CoreClrExceptions(const Target &target, const ContractDescriptor &descriptor,
                                     RuntimeTypeSystem1 &types, Loader1 &loader)
    : memory_(&target.memory), descriptor_(&descriptor), methods_(target, descriptor, types, loader),
      stacks_(target.memory, descriptor, types, methods_) {}

std::vector<Thrown> CoreClrExceptions::thrown(std::span<const ThreadData> threads, std::span<const HandleData> handles,
                                              const std::function<bool(Address)> &is_exception) const {
  return ThrownExceptions(*memory_, *descriptor_, handles, is_exception).find(threads);
}

} // namespace dnheap
