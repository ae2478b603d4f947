#include "runtime/coreclr/core_clr_fields.h"

#include "base/text.h"
#include "runtime/vm/method_table_flags.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr unsigned max_parents = 64, max_depth = 16; // `max_depth`: structs in structs
constexpr u64 max_visited = 1 << 16;                 // limit of fields per type, including those of its structs
constexpr u64 max_kept = 256 << 20;                  // characters of all names; beyond that, names are offsets
constexpr u64 max_name = 1024;                       // characters of one field
constexpr u64 max_argument_text = 1 << 16;           // characters of one field's arguments
constexpr u64 max_arguments = 256;                   // of one generic type, including the arguments of its arguments
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

std::vector<std::string> argument_names(const TypeArguments &arguments) {
  std::vector<std::string> out;
  if (arguments)
    for (const TypeArgument &argument : *arguments)
      out.push_back(argument.name);
  return out;
}

} // namespace

CoreClrFields::CoreClrFields(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types,
                             Loader1 &loader, const FieldDescs &field_descs)
    : NamedFields(target.memory, target.format().pointer_size), types_(&types), loader_(&loader),
      field_descs_(&field_descs), lookup_(target.memory, descriptor, types, loader),
      delegates_(target, descriptor, types, loader) {
  if (std::optional<i64> padding = descriptor.try_offset("EEClass", "BaseSizePadding"))
    padding_ = static_cast<u64>(*padding);
}

std::vector<InstanceField> CoreClrFields::read_fields(Address mt) {
  std::vector<InstanceField> out = read(mt, nullptr, kept_);
  for (const InstanceField &field : out)
    kept_ += sizeof field + field.name.size() + field.type_name.size();
  return out;
}

std::vector<InstanceField> CoreClrFields::fields_of_instance(Address mt, const TypeArguments &arguments) {
  u64 not_kept = 0;
  return read(mt, arguments, not_kept);
}

std::vector<InstanceField> CoreClrFields::read(Address mt, const TypeArguments &arguments, u64 &kept) {
  std::vector<Address> chain;
  // Types of suspended calls share one class, which does not describe their data.
  for (Address at = types_->continuations().contains(mt) ? types_->parent_of(mt) : mt; at && chain.size() < max_parents;
       at = types_->parent_of(at))
    chain.push_back(at);
  std::vector<InstanceField> out;
  if (!types_->is_method_table(mt))
    return out;
  if (kept_ > max_kept) {
    ++problems_["types whose fields were not read, as the fields of all types took too much memory"];
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
    u64 budget = max_arguments;
    const TypeArguments of_type = *type == mt && arguments ? arguments : arguments_of(*type, budget);
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
      describe(field, desc, types_->module_of(desc.enclosing_method_table), of_type, kept);
      field.size = size_of(field);
      if (layout &&
          field.offset + field.size.value_or(1) + p_ > u64{layout->base_size} + (layout->component_size ? 8 : 0)) {
        ++problems_["fields that would lie outside of their objects"];
        continue;
      }
      out.push_back(std::move(field));
    }
  }
  if (out.size() == 1)
    out[0].count = count_of(mt, out[0]);
  return out;
}

// Returns the arguments of the type itself. If instantiations over reference types share it, returns the names of its
// parameters in the metadata.
TypeArguments CoreClrFields::arguments_of(Address mt, u64 &budget) {
  const std::vector<Address> handles = types_->instantiation(mt);
  if (handles.empty() || handles.size() > budget)
    return nullptr;
  budget -= handles.size();
  const Metadata *metadata = loader_->metadata(types_->module_of(mt));
  const std::vector<std::string_view> names =
      metadata ? metadata->generic_parameters(token(Table::TypeDef, types_->type_def_rid(mt)))
               : std::vector<std::string_view>();
  std::vector<TypeArgument> out;
  for (Address handle : handles) {
    TypeArgument &argument = out.emplace_back();
    argument.name = types_->handle_name(handle);
    if (argument.name == "System.__Canon" && out.size() <= names.size())
      argument.name = shortened(std::string(names[out.size() - 1]), max_name);
    if (types_->is_method_table(handle))
      argument.arguments = arguments_of(handle, budget);
  }
  return std::make_shared<std::vector<TypeArgument>>(std::move(out));
}

// Returns the arguments of the type that a signature names inside a type with `arguments`. Signatures are no deeper
// than their decoder allows.
TypeArguments CoreClrFields::arguments_in(const SignatureType &type, const Metadata &metadata,
                                          const TypeArguments &arguments, u64 &room) {
  if (type.kind == ElementType::Var)
    return arguments && type.number < arguments->size() ? (*arguments)[type.number].arguments : nullptr;
  if (type.kind != ElementType::GenericInst)
    return nullptr;
  const std::vector<std::string> names = argument_names(arguments);
  std::vector<TypeArgument> out;
  for (u64 i = 1; i < type.children.size(); ++i) {
    std::string name = shortened(dnheap::describe(type.children[i], metadata, names), 8192);
    const u64 takes = sizeof(TypeArgument) + name.size();
    if (takes > room)
      return nullptr;
    room -= takes;
    out.push_back({std::move(name), arguments_in(type.children[i], metadata, arguments, room)});
  }
  return std::make_shared<std::vector<TypeArgument>>(std::move(out));
}

// The struct's MethodTable comes from the signature in its declaring type, with the arguments that the runtime has for
// that type: the runtime had to load exactly these to lay the fields out. The name has the arguments of the requested
// type, or the given ones.
void CoreClrFields::describe(InstanceField &field, const FieldDesc &desc, Address module,
                             const TypeArguments &arguments, u64 &kept) {
  const Metadata *metadata = loader_->metadata(module);
  std::optional<SignatureType> type =
      metadata ? decode_field(field_descs_->signature(desc), static_cast<u8>(p_)) : std::nullopt;
  if (!type)
    return;
  field.type_name = shortened(dnheap::describe(*type, *metadata, argument_names(arguments)), 8192);
  if (field.type != ElementType::ValueType)
    return;
  u64 room = max_argument_text;
  field.arguments = arguments_in(*type, *metadata, arguments, room);
  kept += max_argument_text - room;
  Address found = lookup_.find(*type, module, types_->instantiation(desc.enclosing_method_table));
  if (!found)
    found = lookup_.find(*type, module, types_->instantiation(field.declaring_type));
  if (found && struct_size(found))
    field.method_table = found;
  else
    ++problems_["fields whose struct type is unknown"];
}

// A boxed struct's base size is the struct plus header and MethodTable, rounded up to a word; the class has the
// padding.
std::optional<u64> CoreClrFields::struct_size(Address mt) const {
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

std::optional<u64> CoreClrFields::size_of(const InstanceField &field) const {
  if (field.type == ElementType::ValueType)
    return field.method_table ? struct_size(field.method_table) : std::nullopt;
  return primitive_size(field.type, p_);
}

// Elements lie behind the length and, in arrays with several dimensions, the bounds.
std::optional<ElementShape> CoreClrFields::elements(Address mt) {
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

NamedFields::TypeNames CoreClrFields::build_names(Address mt) {
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
// ([InlineArray], src/coreclr/vm/methodtablebuilder.cpp). A fixed buffer is a struct with a size that the C# compiler
// sets.
u64 CoreClrFields::count_of(Address mt, const InstanceField &only) const {
  if (!only.size.value_or(0) || (types_->flags(mt).value_or(0) & mt_category_value_mask) != mt_category_value)
    return 1;
  u64 count = struct_size(mt).value_or(0) / *only.size;
  const Metadata *metadata = count >= 2 ? loader_->metadata(types_->module_of(mt)) : nullptr;
  if (!metadata)
    return 1;
  if (only.name == "FixedElementField" && only.type != ElementType::ValueType && !only.is_reference())
    return count;
  u32 rid = types_->type_def_rid(mt);
  std::optional<TypeDefRow> row = metadata->type_def(rid);
  if (!row || (row->flags & explicit_layout))
    return 1;
  for (u32 i = 1; i <= metadata->row_count(Table::ClassLayout); ++i) // {packing, size, type}
    if (metadata->column(Table::ClassLayout, i, 2) == rid && metadata->column(Table::ClassLayout, i, 1) != 0u)
      return 1;
  return count;
}

void CoreClrFields::flatten(Address mt, const Flattening &into, u64 &budget) {
  if (into.depth > max_depth || into.prefix.text.size() > 8 * max_name)
    return;
  const std::vector<InstanceField> &fields = instance_fields(mt); // its address is stable while the map grows
  const u64 length = fields.size() == 1 && fields[0].count > 1 ? fields[0].count : 0;
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

std::vector<DelegateTarget> CoreClrFields::delegate_targets(Address object, Address mt, u64 limit) {
  return delegates_.targets(object, mt, limit, *this);
}

std::optional<DelegateList> CoreClrFields::delegate_list(Address object, Address mt) {
  return delegates_.list(object, mt, *this);
}

Notes CoreClrFields::notes() const {
  Notes out;
  for (const auto &[why, times] : problems_)
    out.add(Subject::fields, Effect::none, why + (times > 1 ? " (" + count_text(times) + " times)" : ""));
  return out;
}

} // namespace dnheap
