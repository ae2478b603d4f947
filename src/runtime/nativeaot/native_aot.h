// NativeAot: the runtime that is compiled into a program or library: known by its contract descriptor, in which
// RuntimeTypeSystem is of version n1, or its debug header (layout/debug_header.h), whatever the file is called. See
// runtime.h.
#pragma once
#include "contract/find.h"
#include "runtime/layout/nativeaot/debug_header.h"
#include "runtime/nativeaot/fields_n1.h"
#include "runtime/nativeaot/thread_n1.h"
#include "runtime/runtime.h"

#include <memory>

namespace dnheap {

// A module that has such a runtime; one or both of the places are known.
struct FoundNativeAot {
  const Module *module = nullptr;
  std::optional<FoundDescriptor> descriptor;
  std::optional<DebugHeaderPlace> header;

  // "10.0"; empty where that is not told: newer descriptors do not, and of a lost header its tables have to be read.
  std::string version() const;
};

// Costs a look at every module, and one pass over their writable memory. `thorough`: where none is found, also those
// whose header is lost, and descriptors that are not exported; one pass more over all of their memory.
std::vector<FoundNativeAot> find_native_aot(const Target &target, bool thorough);

class NativeAot : public Runtime {
public:
  // Throws Error when what is needed for walking the heap is neither published nor found.
  NativeAot(const Target &target, const FoundNativeAot &found, const RuntimeHints &hints = {});

  const char *kind() const override { return "nativeaot"; }
  RuntimeTypeSystemN1 &types() const override { return *types_; }
  Fields &fields() const override { return *fields_; }
  std::vector<ThreadData> threads(std::vector<std::string> &problems) const override {
    return thread_.get_threads(problems);
  }
  // One per type, and per thread, that has any: not the fields but the object that the compiler made up to hold them.
  std::vector<StaticRoot> static_roots(std::vector<std::string> &problems) const override;

  // The program's debug file, for names of types and fields; before the first one is asked for. `bias`: what is added
  // to its addresses to get those in the process.
  void use_debug_file(Bytes file, u64 bias, std::shared_ptr<const void> storage);

  const ThreadN1 &thread() const { return thread_; }

private:
  struct Description {
    ContractDescriptor descriptor;
    std::string version;
  };
  static Description describe(const Target &target, const FoundNativeAot &found, const RuntimeHints &hints);
  NativeAot(const Target &target, const FoundNativeAot &found, Description description, const RuntimeHints &hints);

  ThreadN1 thread_;
  std::unique_ptr<RuntimeTypeSystemN1> types_;
  std::unique_ptr<Fields> fields_;
  FieldsN1 *named_fields_ = nullptr; // the same; null: there is no debug file
};

} // namespace dnheap
