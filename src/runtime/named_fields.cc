#include "runtime/named_fields.h"

#include "base/text.h"
#include "runtime/array_bounds.h"

namespace dnheap {

NamedFields::TypeNames &NamedFields::names_of(Address mt) {
  auto it = names_.find(mt);
  if (it == names_.end())
    it = names_.emplace(mt, std::make_unique<TypeNames>(build_names(mt))).first;
  return *it->second;
}

ReferenceLayout::Reference *NamedFields::locate(TypeNames &names, u64 offset, std::vector<u64> *elements) {
  if (!names.array)
    return names.layout.find(offset, elements);
  if (offset < names.array->start)
    return nullptr;
  u64 inside = offset - names.array->start;
  if (elements)
    elements->push_back(inside / names.array->size);
  return names.layout.find(inside % names.array->size, elements);
}

const std::vector<InstanceField> &NamedFields::instance_fields(Address mt) {
  auto it = fields_.find(mt);
  if (it == fields_.end())
    it = fields_.emplace(mt, read_fields(mt)).first;
  return it->second;
}

ReferenceName NamedFields::reference(Address mt, u64 offset) {
  if (mt != last_ || !last_names_) {
    last_names_ = &names_of(mt);
    last_ = mt;
  }
  ReferenceLayout::Reference *found = locate(*last_names_, offset, nullptr);
  if (!found)
    return intern(unnamed(*last_names_, offset));
  if (found->number == ~0u)
    found->number = static_cast<u32>(intern(found->path.text));
  return ReferenceName{found->number};
}

// Names a reference by its offset; inside a struct of unknown type, by the offset in that struct.
std::string NamedFields::unnamed(const TypeNames &names, u64 offset) const {
  std::string out;
  if (names.array && offset >= names.array->start) {
    offset = (offset - names.array->start) % names.array->size;
    out = "[*]";
  }
  if (const ReferenceLayout::Unknown *unknown = names.layout.find_unknown(offset)) {
    offset -= unknown->offset;
    out = unknown->path.text;
  }
  return out + "." + hex(offset);
}

std::string NamedFields::exact_reference(Address object, Address mt, u64 offset) {
  TypeNames &names = names_of(mt);
  std::vector<u64> elements;
  ReferenceLayout::Reference *found = locate(names, offset, &elements);
  if (!found)
    return unnamed(names, offset);
  const std::optional<ArrayBounds> bounds =
      names.array ? ArrayBounds::of(*memory_, object, *names.array) : std::nullopt;
  std::vector<std::string> texts;
  for (u64 i = 0; i < elements.size(); ++i)
    texts.push_back(i == 0 && bounds ? bounds->index(elements[i]) : std::to_string(elements[i]));
  return exact_text(found->path, texts);
}

} // namespace dnheap
