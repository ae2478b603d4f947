// LoaderHeaps: the memory from which the runtime's LoaderAllocators hand out types, methods and precode. The runtime
// does not publish where it lies, so it is told by its shape: a LoaderAllocator is what a Module leads to that leads to
// at least three lists of blocks, each with the three ascending ends that such a heap keeps (.NET 8 to 10). Some
// thousand loads per LoaderAllocator. Call from one thread.
// src/coreclr/inc/loaderheap.h: LoaderHeapBlock, UnlockedLoaderHeap; vm/loaderallocator.hpp.
#pragma once
#include "target/memory.h"

#include <span>
#include <vector>

namespace dnheap {

// A block of a loader heap: reserved for it, whatever of it is mapped.
struct LoaderHeapBlock {
  Address start = 0;
  u64 size = 0;
  bool operator==(const LoaderHeapBlock &) const = default;
};

// Those of all LoaderAllocators that these Modules lead to, each once, by address.
std::vector<LoaderHeapBlock> find_loader_heaps(const Memory &memory, std::span<const Address> modules);

} // namespace dnheap
