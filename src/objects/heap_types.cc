#include "objects/heap_types.h"

namespace dnheap {

HeapTypes::HeapTypes(const Heap &heap, const Runtime &runtime, std::span<const Address> method_tables)
    : table_(runtime.types(), heap) {
  for (Address mt : method_tables) {
    const u32 next = table_.size();
    const TypeRow *row = table_.find(mt);
    if (!row || row->id != next)
      continue;
    ObjectType &type = types_.emplace_back();
    type.method_table = mt;
    type.loader_allocator = runtime.types().loader_allocator_object(mt);
    type.has_hidden = type.loader_allocator != 0;
    std::optional<ObjectLayout> layout = runtime.types().object_layout(mt);
    if (!layout || !layout->contains_gc_pointers)
      continue;
    std::optional<GCDesc> references = GCDesc::at(runtime.memory(), mt, layout->base_size, layout->component_size);
    type.is_described = references.has_value();
    if (references)
      type.references = std::move(*references);
  }
}

void HeapTypes::set_hidden(Address method_table) {
  const TypeRow *row = table_.find(method_table);
  if (row && row->id < types_.size())
    types_[row->id].has_hidden = true;
}

} // namespace dnheap
