// What a compiler writes into an image as a table of entries of any size by their number, with parts that are alike
// written once: sixteen entries at a time stand below a small tree. A look-up costs some six reads. Any thread.
// Format: dotnet/runtime src/coreclr/vm/nativeformatreader.h, NativeArray.
#pragma once
#include "target/memory.h"

#include <optional>

namespace dnheap {

class NativeArray {
public:
  // Both relative to `image`.
  NativeArray(const Memory &memory, Address image, u32 at) : memory_(&memory), image_(image), at_(at) {}

  // Where the entry of that number lies, relative to the image. Nullopt: there is none, or the dump lacks what says so.
  std::optional<u32> find(u32 index) const;

  struct Number {
    u32 value = 0, end = 0; // where the next one lies
  };
  // A number of one to five bytes.
  static std::optional<Number> number(const Memory &memory, Address image, u32 at);

private:
  const Memory *memory_;
  Address image_;
  u32 at_;
};

} // namespace dnheap
