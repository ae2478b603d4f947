// RecordedTypes: the types of a listing of a heap (target/heap_record.h): names and sizes, nothing more. Any thread.
#pragma once
#include "runtime/type_system.h"
#include "target/heap_record.h"

namespace dnheap {

class RecordedTypes : public TypeSystem {
public:
  // `record` must outlive this object.
  explicit RecordedTypes(const HeapRecord &record) : record_(record) {}

  Address free_object_method_table() const override { return record_.first_type; }
  std::optional<ObjectLayout> object_layout(Address method_table) const override;
  const std::string &name(Address method_table) override;
  std::string assembly(Address method_table) override;
  Notes notes() const override { return {}; }

private:
  const HeapRecord::Type *find(Address method_table) const;

  const HeapRecord &record_;
};

} // namespace dnheap
