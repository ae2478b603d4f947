#include "runtime/native_aot.h"

#include "runtime/layout/native_aot.h"

namespace dnheap {

std::vector<FoundNativeAot> find_native_aot(const Target &target, bool tables_too) {
  std::vector<std::pair<const Module *, DebugHeaderPlace>> places = find_debug_headers(target);
  if (places.empty() && tables_too)
    places = find_debug_tables(target);
  std::vector<FoundNativeAot> out;
  for (auto &[module, place] : places)
    out.push_back({module, std::move(place)});
  return out;
}

NativeAot::NativeAot(const Target &target, const FoundNativeAot &found)
    : NativeAot(target, *found.module, read_debug_header(target, *found.module, found.place)) {}

NativeAot::NativeAot(const Target &target, const Module &module, const DebugHeader &header)
    : Runtime(target, module, net_version(header.place.major), describe_native_aot(target, module, header)),
      thread_(memory(), descriptor()) {
  require_heap();
  types_ = std::make_unique<RuntimeTypeSystemN1>(target, module, descriptor());
}

std::vector<AllocationContext> NativeAot::thread_allocation_contexts(std::vector<std::string> &problems) const {
  std::vector<AllocationContext> out;
  try {
    for (const ThreadData &thread : thread_.get_threads(problems))
      out.push_back(thread.allocation_context);
  } catch (const Error &e) {
    problems.push_back(
        std::string("the thread list was not found, so allocation contexts of threads were not skipped: ") + e.what());
  }
  return out;
}

} // namespace dnheap
