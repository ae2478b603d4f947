#include "heap/type_table.h"

#include "heap/heap.h"

namespace dnheap {

TypeTable::TypeTable(const TypeSystem &types, const Heap &heap)
    : source_(&types), heap_(&heap), is_planned_(heap.is_planned()) {
  slots_.resize(1024);
  rejected_.resize(1024);
}

const TypeRow *TypeTable::miss(Address method_table) {
  Address &rejected = rejected_[(method_table * 0x9e3779b97f4a7c15) >> (64 - 10)];
  if (method_table == rejected) // 0 at the start
    return nullptr;
  std::optional<ObjectLayout> layout;
  if (!heap_->holds(method_table))
    layout = source_->object_layout(method_table);
  if (!layout) {
    rejected = method_table;
    return nullptr;
  }
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
