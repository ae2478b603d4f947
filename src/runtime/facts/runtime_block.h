// RuntimeBlock: memory that a runtime has reserved for itself outside of the GC's heap. Plain data.
#pragma once
#include "base/integers.h"

namespace dnheap {

struct RuntimeBlock {
  enum class Kind : u8 { code, stubs, loader_heap };
  Kind kind = Kind::code;
  Address start = 0, end = 0; // only a part of a loader heap's block may be mapped
  Address allocator = 0;      // of a loader heap: the runtime's LoaderAllocator, whose modules share its fate
  bool operator==(const RuntimeBlock &) const = default;
};

} // namespace dnheap
