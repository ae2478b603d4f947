// FunctionTable: where a mapped module lists its functions, each with how to leave it: .pdata of x64 PE images; others
// have none of this kind. Finding it reads the image's headers; a look-up some 20 entries. Any thread.
// Format: PE/COFF specification, "The .pdata Section".
#pragma once
#include "target/memory.h"

namespace dnheap {

struct FunctionEntry {
  Address start = 0, end = 0, unwind_info = 0;
};

class FunctionTable {
public:
  // Of the image whose header lies at `base`. Nullopt: it has none, or the memory lacks its headers.
  static std::optional<FunctionTable> at(const Memory &memory, Address base);

  // The function that holds an address. Nullopt: none of them, or the memory lacks what that rests on.
  std::optional<FunctionEntry> find(Address address) const;

private:
  FunctionTable(const Memory &memory, Address base, Address table, u64 count)
      : memory_(&memory), base_(base), table_(table), count_(count) {}

  const Memory *memory_;
  Address base_, table_;
  u64 count_;
};

} // namespace dnheap
