// JitCode: finds the method at an address in a heap of code that was compiled at run time: the heap's nibble map leads
// to the method's start; the header in front of the start leads to the method's MethodDesc, its GC info and its
// functions. Any thread. Spec: dotnet/runtime docs/design/datacontracts/ExecutionManager.md, EEJitManager.
#pragma once
#include "contract/descriptor.h"
#include "runtime/compiled/debug_info.h"
#include "runtime/coreclr/code/code_block.h"
#include "runtime/coreclr/code/eh_clauses.h"
#include "runtime/vm/nibble_map.h"
#include "runtime/vm/range_section_map.h"
#include "target/target.h"

namespace dnheap {

class JitCode {
public:
  JitCode(const Target &target, const ContractDescriptor &descriptor);

  // Nullopt: no method's code lies there (a stub, a gap). Throws Error if data that the search needs is not in the
  // dump.
  std::optional<CodeBlock> find(const RangeSection &section, Address ip) const;
  // Returns the methods of a heap of code, one for each piece of code: MethodDescs; nullopt: part of what lists them is
  // not in the dump.
  std::optional<std::vector<Address>> methods(const RangeSection &section) const;
  // For a block that find() returned. Throws Error as find() does.
  DebugInfoPlace debug_info(const CodeBlock &block) const;

private:
  struct Layout {
    u64 start, end, map_base, header_map;                                     // of a CodeHeapListNode
    u64 debug_info, eh_info, gc_info, method_desc, function_count, functions; // of a RealCodeHeader
  };
  bool is_filter(Address header, u64 offset) const;

  const Target *target_;
  const Memory *memory_;
  const u64 p_;
  Layout at_{};
  EhClauseLayout clause_;
  bool constant_time_;
  u32 gc_info_version_;
  u64 last_stub_kind_;
};

} // namespace dnheap
