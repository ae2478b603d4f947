// Process: a HeapBuilder to which a test adds types with fields, opened at the first question about them.
#pragma once
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {

inline constexpr u32 value_category = 0x40000;

// A process in which types with fields are written; it is opened at the first question.
class Process {
public:
  explicit Process(const HeapShape &shape) : heap(shape), p(static_cast<u32>(heap.p)) {}

  // A TypeDef of the application; its fields come next.
  u32 define(const std::string &name, u32 flags = 1) { return heap.app().metadata.type("Shop", name, 0, flags); }
  FieldShape field(const std::string &name, u32 offset, ElementType type = ElementType::Class, Blob signature = {}) {
    if (signature.empty())
      signature = element(type == ElementType::Class ? ElementType::Object : type);
    return {heap.app().metadata.field(name, field_signature(signature)), type, offset};
  }
  FieldShape struct_field(const std::string &name, u32 offset, u32 type_rid) {
    return field(name, offset, ElementType::ValueType,
                 type_reference(ElementType::ValueType, token(Table::TypeDef, type_rid)));
  }
  Address add(u32 rid, u64 bytes, const std::vector<FieldShape> &fields, Address parent = 0, u32 flags = 0) {
    TypeShape shape{.base_size = static_cast<u32>(2 * p + bytes), .flags = flags, .rid = rid};
    if (parent)
      shape.parent = parent;
    Address mt = heap.method_table(shape);
    heap.fields(mt, fields);
    return mt;
  }
  Address add_struct(u32 rid, u64 bytes, const std::vector<FieldShape> &fields) {
    Address mt = add(rid, align_up(bytes, p), fields, 0, value_category);
    heap.value_type(mt, ElementType::ValueType, bytes);
    return mt;
  }
  Opened &open() {
    if (!opened) {
      if (heap.segments.empty())
        heap.segment(GCSegmentGeneration::gen0).object(heap.object_type);
      opened.emplace(heap);
    }
    return *opened;
  }
  Fields &fields() { return open().runtime.fields(); }
  std::string name(Address mt, u64 offset) { return fields().text(fields().reference(mt, offset)); }
  std::string exact(Address mt, u64 offset, Address object = 0) { return fields().exact_reference(object, mt, offset); }

  HeapBuilder heap;
  const u32 p;
  std::optional<Opened> opened;
};

template <class Visit> void for_each_layout(Visit visit) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    visit(shape);
  }
}

} // namespace dnheap::test
