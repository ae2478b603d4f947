// NibbleMap: where the methods begin in a heap of compiled code: four bits for each 32 bytes, of which each other value
// than 0 says that a method begins there, and in which of the eight words. From .NET 10 on (version 2 of the
// ExecutionManager contract) a group of eight that one method covers holds where that method begins instead, so that a
// look-up reads two groups; before, it goes back until it finds one. Any thread.
// Spec: dotnet/runtime docs/design/datacontracts/ExecutionManager.md, NibbleMap.
#pragma once
#include "target/memory.h"

#include <optional>

namespace dnheap {

class NibbleMap {
public:
  // `base`: what the first nibble stands for.
  NibbleMap(const Memory &memory, Address map, Address base, bool constant_time)
      : memory_(&memory), map_(map), base_(base), constant_time_(constant_time) {}

  // Where the last method that begins at or before that address begins; nullopt: none does. Throws Error where the dump
  // lacks that part of the map.
  std::optional<Address> find(Address ip) const;

  // A group of eight nibbles that says where a method begins.
  static bool is_pointer(u32 group) { return (group & 15) > 8; }

private:
  const Memory *memory_;
  Address map_, base_;
  bool constant_time_;
};

} // namespace dnheap
