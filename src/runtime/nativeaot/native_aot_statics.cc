#include "runtime/nativeaot/native_aot_statics.h"

#include "base/text.h"
#include "runtime/nativeaot/thread_n1.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 most_cells = 1 << 22;
constexpr u64 most_modules = 4096;       // modules whose inlined thread statics one thread has
constexpr u64 cell_is_uninitialized = 1; // GCStaticRegionConstants: the cell then holds a type, not an object

} // namespace

bool NativeAotStatics::is_object(Address object) const {
  const Memory &memory = target_->memory;
  if (object == 0 || object % memory.format().pointer_size)
    return false;
  Address type = method_table_of(memory, object);
  return type && types_->object_layout(type);
}

std::vector<StaticRoot> NativeAotStatics::static_roots(Notes &notes) const {
  std::vector<StaticRoot> out;
  add_cells(out, notes);
  add_threads(out, notes);
  return out;
}

// A holder's references are left out of the graph: so either all of its fields are added, or none.
void NativeAotStatics::add_fields(const StaticRoot &holder, ReferenceLayout &layout,
                                  std::vector<StaticRoot> &to) const {
  const Memory &memory = target_->memory;
  const u64 p = memory.format().pointer_size;
  std::vector<StaticRoot> found;
  for (const auto &[offset, size] : types_->made_up_series(method_table_of(memory, holder.object)))
    for (u64 at = offset; at < offset + size; at += p) {
      std::optional<u64> value = memory.try_pointer(holder.object + at);
      if (value == 0u)
        continue;
      if (!value || !is_object(*value))
        return;
      std::vector<u64> elements;
      const ReferenceLayout::Reference *field = layout.find(at, &elements);
      std::vector<std::string> numbers;
      std::transform(elements.begin(), elements.end(), std::back_inserter(numbers),
                     [](u64 element) { return std::to_string(element); });
      found.push_back({.slot = holder.object + at,
                       .object = *value,
                       .name = field ? exact_text(field->path, numbers) : holder.name + "." + hex(at),
                       .thread = holder.thread,
                       .holder = holder.object});
    }
  to.insert(to.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

// Reads the section: it has distances of four bytes, each from its own address to a cell.
void NativeAotStatics::add_cells(std::vector<StaticRoot> &to, Notes &notes) const {
  const ReadyToRun::Section region = types_->ready_to_run().section(ReadyToRun::gc_static_region);
  const u64 count = (region.end - region.start) / 4;
  if (count > most_cells) {
    notes.add(Subject::statics, Effect::liveness,
              "static fields are missing: the module's list of them claims to have " + count_text(count) +
                  " entries, which is impossible");
    return;
  }
  u64 lost = 0, wrong = 0;
  for (u64 i = 0; i < count; ++i) {
    const Address at = region.start + 4 * i;
    std::optional<u32> distance = target_->memory.try_load<u32>(at);
    if (!distance) // a constant: the file has it, too
      distance = target_->initial.try_load<u32>(at);
    const Address cell = at + static_cast<u64>(i64{static_cast<i32>(distance.value_or(0))});
    std::optional<u64> object = distance ? target_->memory.try_pointer(cell) : std::nullopt;
    if (!object)
      ++lost;
    else if (is_object(*object)) {
      std::optional<std::string> owner = types_->statics_owner(cell);
      StaticRoot root{.slot = cell, .object = *object, .name = owner ? *owner + ".*" : types_->place(cell)};
      to.push_back(root);
      ReferenceLayout layout;
      if (fields_)
        layout = fields_->static_fields(cell, target_->memory.pointer(*object, "the type of static fields"));
      if (!layout.empty())
        add_fields(root, layout, to);
    } else if (*object && (*object & cell_is_uninitialized) == 0)
      ++wrong;
  }
  if (lost)
    notes.add(Subject::statics, Effect::liveness,
              "static fields of " + count_text(lost) + " of " + count_text(count) + (count == 1 ? " type" : " types") +
                  " are missing: their tables are not in this dump");
  if (wrong)
    notes.add(Subject::statics, Effect::liveness,
              "static fields of " + count_text(wrong) + (wrong == 1 ? " type" : " types") +
                  " are missing: no object lies where it should");
}

void NativeAotStatics::add_threads(std::vector<StaticRoot> &to, Notes &notes) const {
  const Memory &memory = target_->memory;
  const u64 p = memory.format().pointer_size;
  u64 statics = 0, inlined = 0;
  std::vector<ThreadData> threads;
  try {
    statics = static_cast<u64>(descriptor_->offset("Thread", "ThreadLocalStatics"));
    inlined = static_cast<u64>(descriptor_->offset("Thread", "InlinedThreadLocalStatics"));
    threads = ThreadN1(memory, *descriptor_).get_threads(notes);
  } catch (const Error &e) {
    notes.add(Subject::statics, Effect::liveness, "thread-static fields are missing: ", e);
    return;
  }
  u64 wrong = 0;
  std::unordered_map<Address, ReferenceLayout> layouts; // by type
  auto add = [&](Address slot, const char *name, const ThreadData &thread) {
    std::optional<u64> object = memory.try_pointer(slot);
    if (!object || !is_object(*object)) {
      wrong += !object || *object;
      return;
    }
    StaticRoot root{.slot = slot, .object = *object, .name = name, .thread = thread.address};
    to.push_back(root);
    const Address type = memory.pointer(*object, "the type of thread statics");
    auto [layout, is_new] = layouts.try_emplace(type);
    if (is_new && fields_)
      layout->second = fields_->thread_static_fields(type);
    if (!layout->second.empty())
      add_fields(root, layout->second, to);
  };
  for (const ThreadData &thread : threads) {
    add(thread.address + statics, "thread statics", thread);
    std::unordered_set<Address> seen;
    Address node = memory.try_pointer(thread.address + inlined).value_or(0);
    // {object, next one, TypeManager}: one per separately compiled module.
    for (; node && seen.insert(node).second && seen.size() <= most_modules;
         node = memory.try_pointer(node + p).value_or(0))
      add(node, "(inlined)", thread);
    wrong += node != 0;
  }
  if (wrong)
    notes.add(Subject::statics, Effect::liveness,
              "thread-static fields are missing: " + count_text(wrong) + " of their objects, or lists of them, " +
                  (wrong == 1 ? "was not found" : "were not found"));
}

} // namespace dnheap
