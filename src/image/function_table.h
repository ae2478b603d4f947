// FunctionTable: a mapped module's table of functions, each with its unwind data: .pdata of x64 PE images; other images
// have no such table. Finding it reads the image's headers; a look-up reads some 20 entries. Any thread. Format:
// PE/COFF specification, "The .pdata Section".
#pragma once
#include "target/memory.h"

namespace dnheap {

struct FunctionEntry {
  Address start = 0, end = 0, unwind_info = 0;
};

class FunctionTable {
public:
  // Returns the table of the image whose header lies at `base`. Nullopt: it has none, or its headers are not in the
  // memory.
  static std::optional<FunctionTable> at(const Memory &memory, Address base);

  Address address() const { return table_; }
  Address image_base() const { return base_; }
  // True if the memory has all its entries: then an address without a function is that of a leaf function.
  bool is_complete() const;
  // Returns the function that contains an address. Nullopt: none does, or the entries needed are not in the memory.
  std::optional<FunctionEntry> find(Address address) const;

private:
  FunctionTable(const Memory &memory, Address base, Address table, u64 count)
      : memory_(&memory), base_(base), table_(table), count_(count) {}

  const Memory *memory_;
  Address base_, table_;
  u64 count_;
};

} // namespace dnheap
