// IlOffsets: finds the IL instruction of a code address: the DebugInfo contract. A method's debug info is read once and
// kept as long as this object. Not for several threads at once. Spec: dotnet/runtime
// docs/design/datacontracts/DebugInfo.md.
#pragma once
#include "runtime/coreclr/code/code_lookup.h"

#include <unordered_map>

namespace dnheap {

class IlOffsets {
public:
  IlOffsets(const Memory &memory, const CodeLookup &code) : memory_(&memory), code_(&code) {}

  // `returns_there`: a call returns to that address, so look for the call's instruction. Nullopt: none, or unknown.
  std::optional<u32> find(Address ip, bool returns_there);
  // The number of methods whose debug info is not in the dump, or is unsound.
  u64 unread_methods() const { return unread_; }

private:
  std::optional<u32> look_up(Address ip, bool returns_there);
  const std::vector<IlBoundary> &boundaries_of(const CodeBlock &block);

  const Memory *memory_;
  const CodeLookup *code_;
  std::unordered_map<Address, std::vector<IlBoundary>> methods_; // by the start of their code
  std::unordered_map<Address, std::optional<u32>> known_[2];     // cached: thousands of threads are at few places
  u64 unread_ = 0;
};

} // namespace dnheap
