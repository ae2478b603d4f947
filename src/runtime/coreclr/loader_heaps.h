// LoaderHeaps: the memory from which the runtime's LoaderAllocators hand out types, methods and precode. Where the
// target publishes how (.NET 11: LoaderAllocator.HighFrequencyHeap and its like, LoaderHeap, LoaderHeapBlock), it is
// read; else it is told by its shape: a LoaderAllocator is what a Module leads to that leads to at least three lists of
// blocks, each with the three ascending ends that such a heap keeps (.NET 8 to 10). Some thousand loads per
// LoaderAllocator then. Call from one thread.
// docs/design/datacontracts/Loader.md; src/coreclr/inc/loaderheap.h: LoaderHeapBlock, UnlockedLoaderHeap;
// vm/loaderallocator.hpp.
#pragma once
#include "contract/descriptor.h"

#include <span>
#include <vector>

namespace dnheap {

// A block of a loader heap: reserved for it, whatever of it is mapped.
struct LoaderHeapBlock {
  Address start = 0;
  u64 size = 0;
  Address allocator = 0; // the LoaderAllocator whose it is
  bool operator==(const LoaderHeapBlock &) const = default;
};

// Those of all LoaderAllocators that these Modules lead to, each once, by address.
std::vector<LoaderHeapBlock> find_loader_heaps(const Memory &memory, const ContractDescriptor &descriptor,
                                               std::span<const Address> modules);

// Those of these LoaderAllocators.
std::vector<LoaderHeapBlock> loader_heaps_of(const Memory &memory, const ContractDescriptor &descriptor,
                                             std::span<const Address> allocators);

} // namespace dnheap
