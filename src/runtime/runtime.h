// Runtime: a .NET runtime inside a target, ready to be asked: its descriptor, completed by runtime/layout/, and the
// contracts bound to it. Built once per target in some 10 ms; holds references to the Target, which must outlive it.
#pragma once
#include "contract/descriptor.h"
#include "runtime/gc_1.h"
#include "runtime/layout/derivation.h"
#include "runtime/loader_1.h"
#include "runtime/runtime_type_system_1.h"
#include "runtime/thread_1.h"
#include "target/target.h"

#include <memory>

namespace dnheap {

// The modules that are, by their file's name, .NET runtimes: libcoreclr.so, coreclr.dll, libcoreclr.dylib.
std::vector<const Module *> find_runtime_modules(const Target &target);

class Runtime {
public:
  // Throws Error when what is needed for walking the heap is neither published nor found.
  Runtime(const Target &target, const Module &module, std::span<const ShippedTable> tables = shipped_tables());
  Runtime(const Runtime &) = delete;
  Runtime &operator=(const Runtime &) = delete;

  const Target &target() const { return target_; }
  const Memory &memory() const { return target_.memory; }
  const Module &module() const { return module_; }
  const ContractDescriptor &descriptor() const { return descriptor_; }
  // "10.0.14", or empty.
  const std::string &version() const { return version_; }

  const Gc1 &gc() const { return gc_; }
  const Thread1 &thread() const { return thread_; }
  RuntimeTypeSystem1 &types() const { return *types_; }
  Loader1 &loader() const { return loader_; }

  std::vector<AllocationContext> thread_allocation_contexts(std::vector<std::string> &problems) const;

private:
  const Target &target_;
  const Module &module_;
  std::string version_;
  ContractDescriptor descriptor_;
  Gc1 gc_;
  Thread1 thread_;
  mutable Loader1 loader_;                    // caches
  std::unique_ptr<RuntimeTypeSystem1> types_; // built last: it needs parts of the heap
};

} // namespace dnheap
