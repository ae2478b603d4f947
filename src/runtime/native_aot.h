// NativeAot: the runtime that is compiled into a program or library: known by its debug header (layout/debug_header.h),
// whatever the file is called. See runtime.h.
#pragma once
#include "runtime/layout/debug_header.h"
#include "runtime/runtime.h"
#include "runtime/runtime_type_system_n1.h"
#include "runtime/thread_n1.h"

#include <memory>

namespace dnheap {

class NativeAot : public Runtime {
public:
  // Throws Error when what is needed for walking the heap is neither published nor found.
  NativeAot(const Target &target, const FoundDebugHeader &found);

  const char *kind() const override { return "nativeaot"; }
  RuntimeTypeSystemN1 &types() const override { return *types_; }

  std::vector<ThreadData> threads(std::vector<std::string> &problems) const override {
    return thread_.get_threads(problems);
  }
  const ThreadN1 &thread() const { return thread_; }

private:
  NativeAot(const Target &target, const Module &module, const DebugHeader &header);

  ThreadN1 thread_;
  std::unique_ptr<RuntimeTypeSystemN1> types_;
};

} // namespace dnheap
