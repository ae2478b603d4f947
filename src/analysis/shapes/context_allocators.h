// ContextAllocators: the managed LoaderAllocator of each collectible AssemblyLoadContext. Every object of a type of the
// context keeps that alive, and as long as it lives the context is not unloaded. No field leads from one to the other:
// both have a native part, and the context's part has the LoaderAllocator's address among its first words. So this
// searches for that address after a handle that leads back to the context: the memory of an unloaded context may belong
// to something else by now. One walk of the heap, a thousand bytes per context. Throws Error, Interrupted. One thread.
#pragma once
#include "snapshot/snapshot.h"

#include <unordered_map>
#include <vector>

namespace dnheap {

class ContextAllocators {
public:
  // `contexts`: ascending.
  ContextAllocators(const Snapshot &snapshot, const std::vector<Address> &contexts);

  // Returns 0 if the context is already unloaded, or the dump does not have its native part.
  Address of(Address context) const {
    const auto found = allocators_.find(context);
    return found == allocators_.end() ? 0 : found->second.object;
  }
  // Returns the LoaderAllocator's native part, which has the loader heaps; 0 as above.
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
