#include "runtime/unnamed_fields.h"

#include "base/text.h"

namespace dnheap {

const ElementShape &UnnamedFields::shape(Address method_table) {
  auto [at, is_new] = shapes_.try_emplace(method_table);
  if (!is_new)
    return at->second;
  std::optional<ObjectLayout> layout = types_.object_layout(method_table);
  // The base size includes the object header, which lies in front of the object.
  if (layout && layout->component_size && layout->contains_gc_pointers && layout->base_size > p_)
    at->second = {layout->component_size == p_ ? ElementType::Class : ElementType::ValueType, layout->base_size - p_,
                  layout->component_size};
  return at->second;
}

std::optional<ElementShape> UnnamedFields::elements(Address method_table) {
  const ElementShape &of = shape(method_table);
  return of.size ? std::optional(of) : std::nullopt;
}

std::string UnnamedFields::within(const ElementShape &shape, u64 offset) const {
  return shape.size == p_ ? "" : "." + hex((offset - shape.start) % shape.size);
}

ReferenceName UnnamedFields::reference(Address method_table, u64 offset) {
  const ElementShape &of = shape(method_table);
  return of.size && offset >= of.start ? intern("[*]" + within(of, offset)) : by_offset(offset);
}

std::string UnnamedFields::exact_reference(Address object, Address method_table, u64 offset) {
  const ElementShape &of = shape(method_table);
  if (of.size == 0 || offset < of.start)
    return Fields::exact_reference(object, method_table, offset);
  return "[" + std::to_string((offset - of.start) / of.size) + "]" + within(of, offset);
}

} // namespace dnheap
