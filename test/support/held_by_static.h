// hold_by_static: a static field that holds the first element of an array, as the runtime keeps static fields: in an
// object[] that a strong handle holds.
#pragma once
#include "support/heap_builder.h"

namespace dnheap::test {

// Makes the type, with its static field s_all. `array`: an object[].
inline void hold_by_static(HeapBuilder &heap, const std::string &type, Address array) {
  const Address of = heap.type(type, 1);
  const u32 field = heap.app().metadata.field("s_all", field_signature(element(ElementType::Object)));
  heap.fields(of, {{field, ElementType::Class, 0, true}});
  heap.statics(of, array + 2 * heap.p);
  heap.gc.handles.push_back({.type = HandleType::strong, .object = array});
}

} // namespace dnheap::test
