// LoaderHeaps: the memory from which the runtime's LoaderAllocators hand out types, methods and precode. If the target
// publishes the layout (.NET 11: LoaderAllocator.HighFrequencyHeap and its like, LoaderHeap, LoaderHeapBlock), that is
// used. Else (.NET 8 to 10) heaps are identified by their shape: lists of blocks, with the three ascending ends that
// such a heap keeps. So is the LoaderAllocator itself, unless the target publishes where a Module has it (.NET 10): it
// points at three or more heaps, or its own memory holds one, behind the address of the memory that it reserved at
// first. This costs some thousand loads per LoaderAllocator. Call from one thread. docs/design/datacontracts/Loader.md;
// src/coreclr/inc/loaderheap.h: LoaderHeapBlock, UnlockedLoaderHeap; vm/loaderallocator.hpp.
#pragma once
#include "contract/descriptor.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace dnheap {

// A block of a loader heap: its reserved range, of which only a part may be mapped.
struct LoaderHeapBlock {
  Address start = 0;
  u64 size = 0;
  Address allocator = 0; // the LoaderAllocator that owns the block
  bool operator==(const LoaderHeapBlock &) const = default;
};

// Returns the blocks of all LoaderAllocators that these Modules lead to, each once, by address.
std::vector<LoaderHeapBlock> find_loader_heaps(const Memory &memory, const ContractDescriptor &descriptor,
                                               std::span<const Address> modules);

// Returns the LoaderAllocator of each module for which it is known.
std::unordered_map<Address, Address> find_loader_allocators(const Memory &memory, const ContractDescriptor &descriptor,
                                                            std::span<const Address> modules);

// Returns the blocks of these LoaderAllocators.
std::vector<LoaderHeapBlock> loader_heaps_of(const Memory &memory, const ContractDescriptor &descriptor,
                                             std::span<const Address> allocators);

} // namespace dnheap
