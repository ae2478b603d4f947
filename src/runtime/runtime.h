// Runtime: a .NET runtime inside a target, ready to be asked, of whatever kind: its descriptor, completed from the
// target's memory under one set of names, and the contracts bound to it. One subclass per kind: CoreClr, NativeAot.
// Built once per target in some 10 ms; holds references to the Target, which must outlive it.
#pragma once
#include "contract/descriptor.h"
#include "runtime/gc_1.h"
#include "runtime/type_system.h"
#include "target/target.h"

namespace dnheap {

class Runtime {
public:
  virtual ~Runtime() = default;
  Runtime(const Runtime &) = delete;
  Runtime &operator=(const Runtime &) = delete;

  virtual const char *kind() const = 0; // "coreclr", "nativeaot"
  const Target &target() const { return target_; }
  const Memory &memory() const { return target_.memory; }
  const Module &module() const { return module_; }
  const ContractDescriptor &descriptor() const { return descriptor_; }
  // "10.0.14", "10.0" where only that is known, or empty.
  const std::string &version() const { return version_; }

  const Gc1 &gc() const { return gc_; }
  virtual TypeSystem &types() const = 0; // it caches
  // Those of all threads. What cannot be read is added to `problems`.
  virtual std::vector<AllocationContext> thread_allocation_contexts(std::vector<std::string> &problems) const = 0;

protected:
  Runtime(const Target &target, const Module &module, std::string version, ContractDescriptor descriptor)
      : target_(target), module_(module), version_(std::move(version)), descriptor_(std::move(descriptor)),
        gc_(target.memory, descriptor_) {}

  // Dumps of the kinds "mini" (--normal) and "triage" know where the heap is, but do not hold it: of those nothing can
  // be said, and the reason should not be left to whatever fails first. Throws Error that says so.
  void require_heap() const;

private:
  const Target &target_;
  const Module &module_;
  std::string version_;
  ContractDescriptor descriptor_;
  Gc1 gc_;
};

} // namespace dnheap
