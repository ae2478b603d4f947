#include "runtime/runtime.h"
#include "base/text.h"
#include "contract/find.h"
#include "runtime/layout/derive.h"
#include "runtime/version.h"

namespace dnheap {

namespace {

ContractDescriptor published_descriptor(const Target &target, const Module &module) {
  std::optional<FoundDescriptor> found = find_descriptor(target, module);
  if (!found)
    return {};
  ContractDescriptor out = parse_descriptor(target.memory, found->address);
  out.found_by = found->how;
  return out;
}

} // namespace

std::vector<const Module *> find_runtime_modules(const Target &target) {
  std::vector<const Module *> out;
  for (const Module &module : target.modules)
    for (const char *name : {"libcoreclr.so", "coreclr.dll", "libcoreclr.dylib"})
      if (module.file_name() == name)
        out.push_back(&module);
  return out;
}

Runtime::Runtime(const Target &target, const Module &module, std::span<const ShippedTable> tables)
    : target_(target), module_(module), version_(find_version(target.memory, module)),
      descriptor_(derive_descriptor(target, module, published_descriptor(target, module), tables)),
      gc_(target.memory, descriptor_), thread_(target.memory, descriptor_), loader_(target.memory, descriptor_),
      types_(target.memory, descriptor_, loader_) {}

std::vector<AllocationContext> Runtime::thread_allocation_contexts(std::vector<std::string> &problems) const {
  std::vector<AllocationContext> out;
  if (!descriptor_.try_number("ThreadStore"))
    problems.push_back("the thread list was not found, so allocation contexts of threads were not skipped: " +
                       descriptor_.missing.find("ThreadStore")->second);
  else
    for (const ThreadData &thread : thread_.get_threads(problems))
      out.push_back(thread.allocation_context);
  return out;
}

} // namespace dnheap
