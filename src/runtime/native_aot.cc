#include "runtime/native_aot.h"

#include "runtime/layout/native_aot.h"

namespace dnheap {

NativeAot::NativeAot(const Target &target, const FoundDebugHeader &found)
    : NativeAot(target, *found.module, read_debug_header(target, *found.module, found.place)) {}

NativeAot::NativeAot(const Target &target, const Module &module, const DebugHeader &header)
    : Runtime(target, module, net_version(header.place.major), describe_native_aot(target, module, header)),
      thread_(memory(), descriptor()) {
  require_heap();
  types_ = std::make_unique<RuntimeTypeSystemN1>(target, module, descriptor());
}

} // namespace dnheap
