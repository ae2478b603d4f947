#include "graph/object_finder.h"

#include "heap/walk.h"

#include <algorithm>

namespace dnheap {

Address ObjectFinder::find(Address address) {
  if (index_.is_object(address))
    return address;
  const ObjectId before = index_.last_at_or_before(address);
  if (before == no_object)
    return 0;
  const Address start = index_.address(before);
  const u64 p = memory_.format().pointer_size;
  std::optional<u64> type = memory_.try_pointer(start);
  std::optional<u32> components = memory_.try_load<u32>(start + p);
  const TypeRow *row = type ? types_.find(*type & ~(p - 1)) : nullptr; // the GC marks with the low bits
  if (!row || !components)
    return 0;
  const u64 size = std::max(row->base_size + u64{row->component_size} * *components, smallest_object(memory_.format()));
  return address - start < size ? start : 0;
}

} // namespace dnheap
