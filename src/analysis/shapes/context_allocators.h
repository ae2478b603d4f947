// ContextAllocators: the managed LoaderAllocator of each collectible AssemblyLoadContext. Every object of a type of the
// context keeps that alive, and as long as it lives the context is not unloaded. No field leads from one to the other:
// both have a native part, and the context's has the LoaderAllocator's among its first words. So that is looked for, by
// value, behind a handle that leads back to the context: of one that was unloaded the memory may be another's by now.
// One walk of the heap, a thousand bytes per context.
// Throws Error, Interrupted. One thread.
#pragma once
#include "snapshot/snapshot.h"

#include <unordered_map>
#include <vector>

namespace dnheap {

class ContextAllocators {
public:
  // `contexts`: ascending.
  ContextAllocators(Snapshot &snapshot, const std::vector<Address> &contexts);

  // 0: it was unloaded already, or the dump does not have its native part.
  Address of(Address context) const {
    const auto found = allocators_.find(context);
    return found == allocators_.end() ? 0 : found->second.object;
  }
  // Its native part, which has the loader heaps.
  Address native_of(Address context) const {
    const auto found = allocators_.find(context);
    return found == allocators_.end() ? 0 : found->second.native;
  }

private:
  struct Allocator {
    Address object, native;
  };
  std::unordered_map<Address, Allocator> allocators_;
};

} // namespace dnheap
