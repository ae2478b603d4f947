#include "runtime/nativeaot/native_aot_fields.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr unsigned max_parents = 64, max_depth = 16; // `max_depth`: structs in structs
constexpr u64 max_visited = 1 << 16;                 // limit of fields per type, including those of its structs
constexpr u64 max_kept = 256 << 20;                  // beyond it, references are named by their offset
constexpr u64 max_name = 1024;                       // characters of one field
constexpr std::string_view boxed = "Boxed_";         // prefix of a struct's MethodTable

// Returns the length of a struct with one field and room for several of them ([InlineArray]); 0: it is none.
u64 inline_array_length(const DebugTypes &debug, const DebugTypes::Class &of) {
  if (!of.is_struct || of.fields.size() != 1 || of.fields[0].offset != 0)
    return 0;
  const u64 size = debug.type(of.fields[0].type).size.value_or(0);
  return size && of.size >= 2 * size && of.size % size == 0 ? of.size / size : 0;
}

} // namespace

NativeAotFields::NativeAotFields(const Memory &memory, RuntimeTypeSystemN1 &types, NativeDelegates &delegates,
                                 DebugFile debug_file)
    : NamedFields(memory, memory.format().pointer_size), types_(&types), delegates_(&delegates), unnamed_(types, p_),
      file_(std::move(debug_file)) {}

const DebugTypes &NativeAotFields::debug() {
  if (!debug_)
    debug_.emplace(file_, p_);
  return *debug_;
}

// An object has a header in addition to the compiler's size of its class; a boxed struct has header and MethodTable.
const DebugTypes::Class *NativeAotFields::class_of(Address mt) {
  std::optional<std::string_view> name = types_->symbols().type_at(mt);
  std::optional<ObjectLayout> layout = name ? types_->object_layout(mt) : std::nullopt;
  if (!layout)
    return nullptr;
  const DebugTypes::Class *found = debug().find(*name);
  if (!found && name->starts_with(boxed))
    found = debug().find(name->substr(boxed.size()));
  if (!found) {
    ++problems_["types whose fields the debug file does not list"];
    return nullptr;
  }
  const u64 size = align_up(found->size + (found->is_struct ? 2 : 1) * p_, p_);
  if (!layout->component_size && std::max(size, 3 * p_) != layout->base_size) {
    ++problems_["types whose fields in the debug file do not make up their size"];
    return nullptr;
  }
  return found;
}

std::vector<const DebugTypes::Class *> NativeAotFields::classes_of(Address mt) {
  std::vector<const DebugTypes::Class *> out;
  for (unsigned depth = 0; mt && depth < max_parents; mt = types_->parent_of(mt), ++depth)
    if (const DebugTypes::Class *found = class_of(mt)) {
      for (; found && out.size() < max_parents; found = debug().class_at(found->parent))
        out.push_back(found);
      break;
    }
  return out;
}

std::vector<InstanceField> NativeAotFields::read_fields(Address mt) {
  std::vector<InstanceField> out;
  std::optional<ObjectLayout> layout = types_->object_layout(mt);
  if (!layout || types_->element_of(mt) || kept_ > max_kept)
    return out;
  std::vector<const DebugTypes::Class *> classes = classes_of(mt);
  for (auto c = classes.rbegin(); c != classes.rend(); ++c) {
    InstanceField from;
    from.declaring_type = types_->symbols().find_type((*c)->name).value_or(c == std::prev(classes.rend()) ? mt : 0);
    for (const DebugTypes::Field &field : (*c)->fields) {
      const u64 offset = field.offset + ((*c)->is_struct ? p_ : 0);
      if (offset && offset + p_ < layout->base_size + u64{layout->component_size}) // offset 0 is the MethodTable
        add_field(field, offset, from, out, 0);
    }
    if (const u64 count = inline_array_length(debug(), **c); count && out.size() == 1)
      out[0].count = count;
  }
  return out;
}

// A struct that is never boxed has no MethodTable, so its fields cannot be requested by type: they follow it in the
// list.
void NativeAotFields::add_field(const DebugTypes::Field &field, u64 place, InstanceField from,
                                std::vector<InstanceField> &to, unsigned depth) {
  if (to.size() >= max_visited || depth > max_depth || kept_ > max_kept)
    return;
  const DebugTypes::Type type = debug().type(field.type);
  from.name += shortened(field.name, max_name);
  from.type = type.type;
  from.type_name = shortened(types_->unmangled(type.name), 8192);
  from.offset = place;
  from.size = type.size;
  from.method_table = 0;
  if (type.struct_type)
    from.method_table = types_->symbols().find_type(std::string(boxed) + std::string(type.name)).value_or(0);
  kept_ += sizeof from + from.name.size() + from.type_name.size();
  to.push_back(from);
  if (!type.struct_type || from.method_table)
    return;
  from.name += ".";
  for (const DebugTypes::Field &inner : type.struct_type->fields)
    add_field(inner, place + inner.offset, from, to, depth + 1);
}

std::optional<ElementShape> NativeAotFields::elements(Address mt) {
  std::optional<ElementShape> out = unnamed_.elements(mt);
  if (!out)
    return std::nullopt;
  if (out->start > 2 * p_)
    out->rank = static_cast<u32>(std::min<u64>((out->start - 2 * p_) / 8, 32));
  out->method_table = types_->element_of(mt);
  if (const DebugTypes::Class *element = class_of(out->method_table); element && element->is_struct)
    out->type = ElementType::ValueType;
  return out;
}

// `elements`: the number of equal elements of the one field, one behind the other; 0: there are separate fields.
void NativeAotFields::flatten(std::span<const DebugTypes::Field> fields, u64 elements, const Flattening &into,
                              u64 &budget) {
  if (into.depth > max_depth || into.prefix.text.size() > 8 * max_name)
    return;
  for (const DebugTypes::Field &field : fields) {
    if (budget == 0 || kept_ > max_kept)
      return;
    --budget;
    const DebugTypes::Type type = debug().type(field.type);
    if (type.type != ElementType::ValueType && type.type != ElementType::Class)
      continue;
    const u64 at = into.base + field.offset;
    PathText path = into.prefix;
    (path += ".") += shortened(field.name, max_name);
    kept_ += sizeof path + path.text.size();
    if (type.type == ElementType::ValueType && !type.struct_type) {
      into.to->unknowns.push_back({at, path});
      continue;
    }
    ReferenceLayout element;
    if (elements)
      path.add_star();
    const Flattening inside{elements ? &element : into.to, elements ? 0 : at, path, into.depth + 1};
    if (type.struct_type)
      flatten(type.struct_type->fields, inline_array_length(debug(), *type.struct_type), inside, budget);
    else
      inside.to->references.push_back({inside.base, path});
    if (elements && !element.empty()) {
      into.to->runs.push_back({at, *type.size, elements, {}});
      into.to->runs.back().elements.push_back(std::move(element));
    }
  }
}

NamedFields::TypeNames NativeAotFields::build_names(Address mt) {
  TypeNames out;
  u64 budget = max_visited;
  out.array = elements(mt);
  if (out.array) {
    PathText prefix;
    prefix.add_star();
    if (out.array->type == ElementType::Class)
      out.layout.references.push_back({0, prefix});
    else if (const DebugTypes::Class *element = class_of(out.array->method_table))
      flatten(element->fields, inline_array_length(debug(), *element), {&out.layout, 0, prefix, 0}, budget);
  } else {
    for (const DebugTypes::Class *c : classes_of(mt))
      flatten(c->fields, inline_array_length(debug(), *c), {&out.layout, c->is_struct ? p_ : 0, {}, 0}, budget);
  }
  out.layout.seal();
  return out;
}

Notes NativeAotFields::notes() const {
  Notes out;
  for (const auto &[why, times] : problems_)
    out.add(Subject::fields, Effect::none, why + (times > 1 ? " (" + count_text(times) + " times)" : ""));
  return out;
}

} // namespace dnheap
