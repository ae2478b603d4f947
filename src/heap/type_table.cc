#include "heap/type_table.h"

namespace dnheap {

const TypeRow *TypeTable::miss(Address method_table) {
  if (method_table == 0)
    return nullptr;
  std::optional<ObjectLayout> layout = source_->object_layout(method_table);
  if (!layout)
    return nullptr;
  if ((types_.size() + 1) * 2 > slots_.size())
    grow();
  TypeRow row{method_table, layout->base_size, layout->component_size, size()};
  types_.push_back(method_table);
  u64 slot = slot_of(method_table);
  while (slots_[slot].method_table != no_method_table)
    slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = row;
  return &slots_[slot];
}

void TypeTable::grow() {
  std::vector<TypeRow> old(slots_.size() * 2);
  old.swap(slots_);
  --shift_;
  for (const TypeRow &row : old)
    if (row.method_table != no_method_table) {
      u64 slot = slot_of(row.method_table);
      while (slots_[slot].method_table != no_method_table)
        slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = row;
    }
}

} // namespace dnheap
