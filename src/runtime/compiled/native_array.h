// NativeArray: a table that a compiler writes into an image: it maps numbers to entries of any size. Equal parts are
// stored once: every sixteen entries have a small tree. A look-up costs some six reads. Any thread. Format:
// dotnet/runtime src/coreclr/vm/nativeformatreader.h, NativeArray.
#pragma once
#include "target/memory.h"

#include <optional>

namespace dnheap {

class NativeArray {
public:
  // `at` and all results are relative to `image`.
  NativeArray(const Memory &memory, Address image, u32 at) : memory_(&memory), image_(image), at_(at) {}

  // Returns the place of the entry with that number, relative to the image. Nullopt: there is none, or the tree is not
  // in the dump.
  std::optional<u32> find(u32 index) const;

  struct Number {
    u32 value = 0, end = 0; // `end`: start of the next number
  };
  // Reads a number of one to five bytes.
  static std::optional<Number> number(const Memory &memory, Address image, u32 at);

private:
  const Memory *memory_;
  Address image_;
  u32 at_;
};

} // namespace dnheap
