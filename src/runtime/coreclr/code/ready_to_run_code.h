// ReadyToRunCode: finds the method at an address of an image that was compiled ahead of time: by the image's sorted
// table of functions, and by the map from method starts to MethodDescs. The search takes the runtime's own steps: the
// runtime took them when the method was first called, so the memory that they touch is in a heap dump, and other pages
// may not be. Any thread. Spec: dotnet/runtime docs/design/datacontracts/ExecutionManager.md, ReadyToRunJitManager;
// inc/readytorun.h.
#pragma once
#include "contract/descriptor.h"
#include "runtime/compiled/debug_info.h"
#include "runtime/coreclr/code/code_block.h"
#include "runtime/coreclr/code/runtime_function.h"
#include "runtime/vm/range_section_map.h"
#include "target/target.h"

namespace dnheap {

class ReadyToRunCode {
public:
  ReadyToRunCode(const Target &target, const ContractDescriptor &descriptor);

  // Nullopt: no method's code lies there. Throws Error if data that the search needs is not in the dump, or if its
  // place is unknown.
  std::optional<CodeBlock> find(const RangeSection &section, Address ip) const;
  // For a block that find() returned.
  DebugInfoPlace debug_info(const CodeBlock &block) const;

private:
  struct Layout {
    std::optional<u64> info;       // in a Module
    std::optional<u64> method_map; // in a ReadyToRunInfo
    u64 header, composite, function_count, functions, hot_cold_count, hot_cold_map, thunks;
    u64 buckets; // in a map
  };
  // An image's tables.
  struct Image {
    Address base, header, method_map;
    RuntimeFunctions functions;
    Address hot_cold_map;
    u32 hot_cold_count;
  };
  Image image_of(const RangeSection &section, Address info) const;
  struct Section {
    u64 address = 0, size = 0;
  };
  Section find_section(Address header, Address base, u32 kind) const;
  bool is_thunk(Address info, u64 relative) const;
  std::optional<u32> function_at(const RuntimeFunctions &functions, u64 relative) const;
  std::optional<u32> hot_part(const Image &image, u32 index) const;
  Address method_at(Address map, Address entry) const;
  bool is_filter(const Image &image, Address main, Address funclet) const;

  const Target *target_;
  const Memory *memory_;
  const u64 p_;
  Layout at_{};
  std::string why_unknown_; // the reason if the map of methods is not found
  u32 gc_info_version_;     // for code that the runtime compiles itself
};

} // namespace dnheap
