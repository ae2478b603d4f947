// CodeLookup: finds the method at a code address: the ExecutionManager contract. Code that was compiled at run time is
// found by the nibble map of its heap; code of ReadyToRun images by their tables of functions. That search takes
// exactly the steps of the runtime's own binary search, since a heap dump holds only the pages that these steps touch.
// Some 30 reads per question; nothing is kept. Any thread. Spec: dotnet/runtime
// docs/design/datacontracts/ExecutionManager.md.
#pragma once
#include "runtime/coreclr/code/jit_code.h"
#include "runtime/coreclr/code/ready_to_run_code.h"
#include "runtime/vm/range_section_map.h"

namespace dnheap {

class CodeLookup {
public:
  CodeLookup(const Target &target, const ContractDescriptor &descriptor);

  // The missing values without which no code is found at all; empty: none is missing.
  const std::string &why_not() const { return why_not_; }
  const RangeSectionMap &map() const { return map_; }

  // Nullopt: no managed method's code lies there. If that is unknown, throws Error that names what is not in the dump.
  std::optional<CodeBlock> find(Address ip) const;
  // Returns the methods that were compiled at run time, one for each piece of code: MethodDescs; nullopt: part of what
  // lists them is not in the dump.
  std::optional<std::vector<Address>> compiled_methods() const;
  // Finds the debug info of the block's method: some 20 reads more. Throws Error as find() does.
  DebugInfoPlace debug_info(const CodeBlock &block) const {
    return block.ready_to_run ? ready_to_run_.debug_info(block) : jit_.debug_info(block);
  }

private:
  RangeSectionMap map_;
  JitCode jit_;
  ReadyToRunCode ready_to_run_;
  std::string why_not_;
};

} // namespace dnheap
