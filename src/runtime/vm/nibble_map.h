// NibbleMap: the starts of methods in a heap of compiled code: four bits for each 32 bytes; any value but 0 means that
// a method begins there, and in which of the eight words. In .NET 10 and later (version 2 of the ExecutionManager
// contract), a group of eight nibbles that one method covers holds that method's start instead, so a look-up reads two
// groups. In earlier versions, a look-up goes back until it finds a start. Any thread. Spec: dotnet/runtime
// docs/design/datacontracts/ExecutionManager.md, NibbleMap.
#pragma once
#include "target/memory.h"

#include <optional>
#include <vector>

namespace dnheap {

class NibbleMap {
public:
  // `base`: the address that the first nibble stands for.
  NibbleMap(const Memory &memory, Address map, Address base, bool constant_time)
      : memory_(&memory), map_(map), base_(base), constant_time_(constant_time) {}

  // Returns the start of the last method that begins at or before that address; nullopt: none does. Throws Error if
  // that part of the map is not in the dump.
  std::optional<Address> find(Address ip) const;

  // Returns the starts of all methods that begin before `end`, by address; nullopt: part of the map is not in the dump.
  std::optional<std::vector<Address>> starts(Address end) const;

  // True for a group of eight nibbles that holds a method's start.
  static bool is_pointer(u32 group) { return (group & 15) > 8; }

private:
  const Memory *memory_;
  Address map_, base_;
  bool constant_time_;
};

} // namespace dnheap
