#include "runtime/fields_1.h"

#include "base/text.h"
#include "runtime/method_table_flags.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr unsigned max_parents = 64, max_depth = 16; // of structs in structs
constexpr u64 max_visited = 1 << 16;                 // fields per type, those of structs included
constexpr u64 max_kept = 256 << 20;                  // characters of all fields and paths; then names are by offset
constexpr u64 max_name = 1024;                       // characters of one field
constexpr u32 explicit_layout = 0x10;                // II.23.1.15

std::optional<u64> primitive_size(ElementType type, u64 pointer_size) {
  switch (type) {
  case ElementType::Boolean:
  case ElementType::I1:
  case ElementType::U1: return 1;
  case ElementType::Char:
  case ElementType::I2:
  case ElementType::U2: return 2;
  case ElementType::I4:
  case ElementType::U4:
  case ElementType::R4: return 4;
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::R8: return 8;
  case ElementType::Class:
  case ElementType::I:
  case ElementType::U:
  case ElementType::Ptr:
  case ElementType::ByRef:
  case ElementType::FnPtr: return pointer_size;
  default: return std::nullopt;
  }
}

} // namespace

Fields1::Fields1(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types, Loader1 &loader,
                 const FieldDesc1 &field_descs)
    : NamedFields(target.memory, target.format().pointer_size), types_(&types), loader_(&loader),
      field_descs_(&field_descs), lookup_(target.memory, descriptor, types, loader),
      delegates_(target, descriptor, types, loader) {
  if (std::optional<i64> padding = descriptor.try_offset("EEClass", "BaseSizePadding"))
    padding_ = static_cast<u64>(*padding);
}

std::vector<InstanceField> Fields1::read_fields(Address mt) {
  std::vector<Address> chain;
  for (Address at = mt; at && chain.size() < max_parents; at = types_->parent_of(at))
    chain.push_back(at);
  std::vector<InstanceField> out;
  if (!types_->is_method_table(mt))
    return out;
  if (kept_ > max_kept) {
    ++problems_["types whose fields were not read, as those of all together took too much memory"];
    return out;
  }
  std::optional<ObjectLayout> layout = types_->object_layout(mt);
  for (auto type = chain.rbegin(); type != chain.rend(); ++type) {
    std::optional<std::vector<FieldDesc>> own = field_descs_->own_fields(*type);
    if (!own) {
      ++problems_[field_descs_->why_missing().empty() ? "types whose list of fields is not in this dump"
                                                      : field_descs_->why_missing()];
      continue;
    }
    for (const FieldDesc &desc : *own) {
      if (desc.is_static || !desc.offset || out.size() >= max_visited)
        continue;
      InstanceField field;
      field.offset = p_ + *desc.offset;
      field.type = desc.type;
      field.declaring_type = *type;
      field.name = shortened(field_descs_->name(desc), max_name);
      if (field.name.empty())
        field.name = hex(field.offset);
      describe(field, desc, types_->module_of(desc.enclosing_method_table));
      field.size = size_of(field);
      if (layout &&
          field.offset + field.size.value_or(1) + p_ > u64{layout->base_size} + (layout->component_size ? 8 : 0)) {
        ++problems_["fields that would lie outside of their objects"];
        continue;
      }
      kept_ += sizeof field + field.name.size() + field.type_name.size();
      out.push_back(std::move(field));
    }
  }
  return out;
}

// The struct's MethodTable comes from the signature as its declaring type sees it, with the arguments that the runtime
// has for that one: those are what it had to load to lay the fields out. The name has the arguments of the type asked
// for.
void Fields1::describe(InstanceField &field, const FieldDesc &desc, Address module) {
  const Metadata *metadata = loader_->metadata(module);
  std::optional<SignatureType> type =
      metadata ? decode_field(field_descs_->signature(desc), static_cast<u8>(p_)) : std::nullopt;
  if (!type)
    return;
  std::vector<std::string> arguments;
  for (Address handle : types_->instantiation(field.declaring_type))
    arguments.push_back(types_->handle_name(handle));
  field.type_name = shortened(dnheap::describe(*type, *metadata, arguments), 8192);
  if (field.type != ElementType::ValueType)
    return;
  Address found = lookup_.find(*type, module, types_->instantiation(desc.enclosing_method_table));
  if (!found)
    found = lookup_.find(*type, module, types_->instantiation(field.declaring_type));
  if (found && struct_size(found))
    field.method_table = found;
  else
    ++problems_["fields whose struct type is not known"];
}

// Of a boxed struct's base size all but header and MethodTable is the struct; what is less than a word more, only the
// class tells.
std::optional<u64> Fields1::struct_size(Address mt) const {
  std::optional<ObjectLayout> layout = types_->object_layout(mt);
  if (!layout || layout->component_size || layout->base_size < 2 * p_)
    return std::nullopt;
  u64 rounded = layout->base_size - 2 * p_;
  if (padding_)
    if (std::optional<u8> padding = memory_->try_load<u8>(types_->class_of(mt) + *padding_);
        padding && *padding >= 2 * p_ && *padding < 3 * p_ && *padding < layout->base_size)
      return layout->base_size - *padding;
  return rounded;
}

std::optional<u64> Fields1::size_of(const InstanceField &field) const {
  if (field.type == ElementType::ValueType)
    return field.method_table ? struct_size(field.method_table) : std::nullopt;
  return primitive_size(field.type, p_);
}

// An array's element: behind the length and, with several dimensions, the bounds.
std::optional<ElementShape> Fields1::elements(Address mt) {
  std::optional<u32> flags = types_->flags(mt);
  std::optional<ObjectLayout> layout = types_->object_layout(mt);
  if (!flags || !layout || !layout->component_size || !is_array(*flags) || layout->base_size < 3 * p_)
    return std::nullopt;
  ElementShape out;
  out.start = layout->base_size - p_;
  out.size = layout->component_size;
  out.rank = is_sz_array(*flags) ? 0 : static_cast<u32>(std::clamp<u64>((layout->base_size - 3 * p_) / 8, 1, 32));
  Address element = types_->element_type_of(mt);
  bool is_pointer = element & 2 || !types_->is_method_table(element); // a TypeDesc
  out.method_table = is_pointer ? 0 : element;
  if (is_pointer)
    out.type = *flags & mt_contains_gc_pointers ? ElementType::Class : ElementType::I;
  else if ((types_->flags(element).value_or(0) & mt_category_value_mask) != mt_category_value)
    out.type = ElementType::Class;
  else
    out.type = types_->normal_type(element);
  return out;
}

NamedFields::TypeNames Fields1::build_names(Address mt) {
  TypeNames out;
  u64 budget = max_visited;
  out.array = elements(mt);
  if (out.array) {
    PathText prefix;
    prefix.add_star();
    if (out.array->type == ElementType::Class)
      out.layout.references.push_back({0, prefix});
    else if (out.array->method_table)
      flatten(out.array->method_table, {&out.layout, 0, p_, prefix, 0}, budget);
  } else {
    flatten(mt, {&out.layout, 0, 0, {}, 0}, budget);
  }
  out.layout.seal();
  return out;
}

// An inline array is a struct with one field and room for several of them; it may have no explicit layout or size
// ([InlineArray], src/coreclr/vm/methodtablebuilder.cpp).
u64 Fields1::inline_array_length(Address mt) {
  auto it = inline_lengths_.find(mt);
  if (it == inline_lengths_.end())
    it = inline_lengths_.emplace(mt, find_inline_array_length(mt)).first;
  return it->second;
}

u64 Fields1::find_inline_array_length(Address mt) {
  const std::vector<InstanceField> &fields = instance_fields(mt);
  if (fields.size() != 1 || !fields[0].size.value_or(0) ||
      (types_->flags(mt).value_or(0) & mt_category_value_mask) != mt_category_value)
    return 0;
  u64 length = struct_size(mt).value_or(0) / *fields[0].size;
  const Metadata *metadata = length >= 2 ? loader_->metadata(types_->module_of(mt)) : nullptr;
  if (!metadata)
    return 0;
  u32 rid = types_->type_def_rid(mt);
  std::optional<TypeDefRow> row = metadata->type_def(rid);
  if (!row || (row->flags & explicit_layout))
    return 0;
  for (u32 i = 1; i <= metadata->row_count(Table::ClassLayout); ++i) // {packing, size, type}
    if (metadata->column(Table::ClassLayout, i, 2) == rid && metadata->column(Table::ClassLayout, i, 1) != 0u)
      return 0;
  return length;
}

void Fields1::flatten(Address mt, const Flattening &into, u64 &budget) {
  if (into.depth > max_depth || into.prefix.text.size() > 8 * max_name)
    return;
  const std::vector<InstanceField> &fields = instance_fields(mt); // stays where it is while the map grows
  const u64 length = inline_array_length(mt);
  for (const InstanceField &field : fields) {
    if (budget == 0 || kept_ > max_kept)
      return;
    --budget;
    bool is_struct = field.type == ElementType::ValueType;
    if (!is_struct && !field.is_reference())
      continue;
    u64 at = into.base + field.offset - into.skip;
    PathText path = into.prefix;
    (path += ".") += field.name;
    kept_ += sizeof path + path.text.size();
    if (is_struct && !field.method_table) {
      into.to->unknowns.push_back({at, path});
      continue;
    }
    ReferenceLayout element;
    if (length)
      path.add_star();
    ReferenceLayout *to = length ? &element : into.to;
    u64 base = length ? 0 : at;
    if (is_struct)
      flatten(field.method_table, {to, base, p_, path, into.depth + 1}, budget);
    else
      to->references.push_back({base, path});
    if (length && !element.empty()) {
      into.to->runs.push_back({at, *field.size, length, {}});
      into.to->runs.back().elements.push_back(std::move(element));
    }
  }
}

std::vector<DelegateTarget> Fields1::delegate_targets(Address object, Address mt, u64 limit) {
  return delegates_.targets(object, mt, limit, *this);
}

std::vector<std::string> Fields1::problems() const {
  std::vector<std::string> out;
  for (const auto &[why, times] : problems_)
    out.push_back(why + (times > 1 ? " (" + count_text(times) + " times)" : ""));
  return out;
}

} // namespace dnheap
