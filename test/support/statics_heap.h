// A HeapBuilder with a type that has static fields, a thread static, and what holds them: in each version's way.
#pragma once
#include "support/heap_builder.h"

namespace dnheap::test {

struct StaticsHeap : HeapBuilder {
  explicit StaticsHeap(const HeapShape &shape, const char *name = "Shop.Cache") : HeapBuilder(shape) {
    auto add_field = [&](const char *name) {
      return app().metadata.field(name, field_signature(element(ElementType::Object)));
    };
    cache = type(name, 1);
    std::vector<FieldShape> list = {
        {add_field("_next"), ElementType::Class, 0},
        {add_field("_items"), ElementType::Class, static_cast<u32>(p), true},
        {add_field("_boxed"), ElementType::ValueType, static_cast<u32>(2 * p), true},
        {add_field("_count"), ElementType::I4, 0, true},
        {add_field("_null"), ElementType::Class, static_cast<u32>(3 * p), true},
        {add_field("_mine"), ElementType::Class, static_cast<u32>(thread_offset()), true, true}};
    fields(cache, list);
    SegmentWriter &old = segment(GCSegmentGeneration::gen2);
    holder = old.object(object_array_type, 8);
    for (u64 i = 0; i < 4; ++i)
      objects_of_test.push_back(old.object(object_type));
    old.store(slot(holder, 2), objects_of_test[0], p);
    old.store(slot(holder, 3), objects_of_test[1], p);
    old.store(slot(holder, 6), objects_of_test[2], p); // of no field
    gc.handles = {{.type = HandleType::strong, .object = holder}};
    thread_array = old.object(object_array_type, 4);
    thread_holder = old.object(object_array_type, 2);
    old.store(slot(thread_holder, 1), objects_of_test[3], p);
    if (shape.net == Net::net8) {
      app().statics = slot(holder, 1);
      threads[1].statics = thread_holder;
      gc.handles.push_back({.type = HandleType::strong, .object = thread_holder});
    } else {
      statics(cache, slot(holder, 1));
      thread_statics(cache, 3);
      old.store(slot(thread_array, 1), thread_holder, p);
      threads[1].statics = thread_array;
      threads[1].statics_count = 5;
    }
  }
  // From .NET 9 on it counts from the array's beginning.
  u64 thread_offset() const { return shape.net == Net::net8 ? p : 3 * p; }
  Address slot(Address array, u64 i) const { return array + (2 + i) * p; }

  Address cache = 0, holder = 0, thread_array = 0, thread_holder = 0;
  std::vector<Address> objects_of_test;
};

} // namespace dnheap::test
