// NativeAotFields, second part: the content of the objects that the compiler generated to hold static fields.
#include "runtime/nativeaot/native_aot_fields.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 max_visited = 1 << 16; // fields of one object
constexpr u64 max_unplaced = 256;    // limit of one type's static fields that may be thread statics
constexpr unsigned max_depth = 16;   // structs in structs

// Returns the magnitude of a negative number that is as wide as a pointer.
u64 negated(u64 number, Format format) {
  return format.pointer_size == 8 ? 0 - number : u64{static_cast<u32>(0 - number)};
}

u64 alignment_of(const DebugTypes &debug, const DebugTypes::Type &type, unsigned depth, u64 &budget) {
  if (!type.struct_type)
    return type.size.value_or(1);
  u64 out = 1;
  for (const DebugTypes::Field &field : type.struct_type->fields)
    if (depth < max_depth && budget > 0)
      out = std::max(out, alignment_of(debug, debug.type(field.type), depth + 1, --budget));
  return out;
}

} // namespace

// True if the layout has all slots. Runs of elements only have to cover the slots that nothing else covers.
bool NativeAotFields::are_all(ReferenceLayout &layout, std::span<const u64> slots) {
  return (!layout.runs.empty() || layout.references.size() == slots.size()) &&
         std::all_of(slots.begin(), slots.end(), [&](u64 at) { return layout.find(at) != nullptr; });
}

std::vector<u64> NativeAotFields::made_up_slots(Address mt) const {
  std::vector<u64> out;
  for (const auto &[offset, size] : types_->made_up_series(mt))
    for (u64 at = offset; at < offset + size && out.size() < max_visited; at += p_)
      out.push_back(at);
  return out;
}

ReferenceLayout NativeAotFields::static_fields(Address cell, Address mt) {
  ReferenceLayout out;
  std::optional<std::string> owner = types_->statics_owner(cell);
  u64 budget = max_visited;
  if (owner)
    flatten(debug().statics_at(cell), 0, {&out, 0, {*owner, {}}, 0}, budget);
  out.seal();
  return are_all(out, made_up_slots(mt)) ? out : ReferenceLayout();
}

// The fields lie in the order of declaration, each aligned. The debug file does not show which of the last static
// fields are thread statics: tries as many as make up all references and leave no room for another one. Nullopt: no
// number fits, or several do.
std::optional<ReferenceLayout> NativeAotFields::lay_out_threads(std::string_view type, u64 start, u64 end,
                                                                std::span<const u64> slots) {
  const DebugTypes::Class *of = debug().find(type);
  const u64 most = of ? std::min<u64>(of->unplaced.size(), max_unplaced) : 0;
  std::optional<ReferenceLayout> found;
  for (u64 count = 1; count <= most; ++count) {
    const std::span<const DebugTypes::Field> last = of->unplaced.last(count);
    std::vector<DebugTypes::Field> fields(last.begin(), last.end());
    u64 at = start, budget = max_visited;
    for (DebugTypes::Field &field : fields) {
      const DebugTypes::Type field_type = debug().type(field.type);
      const u64 alignment = std::max<u64>(alignment_of(debug(), field_type, 0, budget), 1);
      field.offset = at = (at + alignment - 1) / alignment * alignment;
      at += std::min(field_type.size.value_or(end), end);
    }
    if (at > end || end - at >= p_)
      continue;
    ReferenceLayout layout;
    flatten(fields, 0, {&layout, 0, {types_->unmangled(type), {}}, 0}, budget);
    layout.seal();
    if (!are_all(layout, slots))
      continue;
    if (found)
      return std::nullopt;
    found = std::move(layout);
  }
  return found;
}

// Types with thread statics have an index into the thread's array of such objects. A negative index is the negated
// offset of the type's own fields in the one object of all types (ILCompiler's InlinedThreadStatics).
ReferenceLayout NativeAotFields::thread_static_fields(Address mt) {
  ReferenceLayout out;
  const NativeSymbols &symbols = types_->symbols();
  const std::vector<u64> slots = made_up_slots(mt);
  std::optional<Address> told = symbols.inlined_thread_statics();
  std::optional<ObjectLayout> layout = types_->object_layout(mt);
  if (!told || !layout || slots.empty() || memory_->try_pointer(*told) != mt)
    return out;
  const u64 end = layout->base_size - p_; // without the header
  std::vector<std::pair<u64, std::string_view>> types;
  for (const auto &[name, address] : symbols.thread_statics())
    if (std::optional<u64> index = memory_->try_pointer(address + p_))
      if (const u64 start = negated(*index, memory_->format()); start >= p_ && start < end)
        types.emplace_back(start, name);
  std::sort(types.begin(), types.end());
  for (u64 i = 0; i < types.size(); ++i) {
    const u64 next = i + 1 < types.size() ? types[i + 1].first : end;
    if (next == types[i].first) // two types cannot begin at the same place
      continue;
    auto first = std::lower_bound(slots.begin(), slots.end(), types[i].first),
         last = std::lower_bound(slots.begin(), slots.end(), next);
    std::optional<ReferenceLayout> own = lay_out_threads(types[i].second, types[i].first, next, {first, last});
    if (!own) { // their type is still known
      own.emplace();
      for (; first != last; ++first)
        own->references.push_back({*first, {types_->unmangled(types[i].second) + ".*", {}}});
    }
    std::move(own->references.begin(), own->references.end(), std::back_inserter(out.references));
    std::move(own->runs.begin(), own->runs.end(), std::back_inserter(out.runs));
  }
  out.seal();
  return out;
}

} // namespace dnheap
