#include "objects/object_finder.h"

#include "heap/walk.h"

namespace dnheap {

Address ObjectFinder::find(Address address) {
  if (index_.is_object(address))
    return address;
  const ObjectId before = index_.last_at_or_before(address);
  if (before == no_object)
    return 0;
  const Address start = index_.address(before);
  const Format format = memory_.format();
  std::optional<u64> type = memory_.try_pointer(start);
  std::optional<u32> components = memory_.try_load<u32>(start + format.pointer_size);
  const TypeRow *row = type ? types_.find(method_table_in(*type, format)) : nullptr;
  if (!row || !components)
    return 0;
  return address - start < object_size(row->base_size, row->component_size, *components, format) ? start : 0;
}

} // namespace dnheap
