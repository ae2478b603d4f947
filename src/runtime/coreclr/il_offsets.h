// IlOffsets: which IL instruction a code address stands for: the DebugInfo contract. A method's debug info is read once
// and kept while this lives. One thread.
// Spec: dotnet/runtime docs/design/datacontracts/DebugInfo.md.
#pragma once
#include "runtime/coreclr/code_lookup.h"

#include <unordered_map>

namespace dnheap {

class IlOffsets {
public:
  IlOffsets(const Memory &memory, const CodeLookup &code) : memory_(&memory), code_(&code) {}

  // `returns_there`: a call returns to that address, and what counts is the call. Nullopt: of none, or it cannot be
  // told.
  std::optional<u32> find(Address ip, bool returns_there);
  // Methods whose debug info the dump lacks, or is unsound.
  u64 unread_methods() const { return unread_; }

private:
  std::optional<u32> look_up(Address ip, bool returns_there);
  const std::vector<IlBoundary> &boundaries_of(const CodeBlock &block);

  const Memory *memory_;
  const CodeLookup *code_;
  std::unordered_map<Address, std::vector<IlBoundary>> methods_; // by where their code begins
  std::unordered_map<Address, std::optional<u32>> known_[2];     // thousands of threads stand at the same few places
  u64 unread_ = 0;
};

} // namespace dnheap
