// ContextAllocators: the managed LoaderAllocator of each collectible AssemblyLoadContext. Every object whose type
// belongs to the context keeps the LoaderAllocator alive, and as long as the LoaderAllocator lives the context is not
// unloaded. No field leads from the context to its LoaderAllocator: both have a native part, and the context's part has
// the address of the LoaderAllocator's part among its first words. This class searches for that address, behind a
// handle that leads back to the context; the handle shows that the memory still belongs to the context. One walk of the
// heap, a thousand bytes per context. Throws Error, Interrupted. Not for several threads at once.
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
