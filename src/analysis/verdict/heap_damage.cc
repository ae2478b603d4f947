#include "analysis/verdict/heap_damage.h"

#include "base/text.h"
#include "heap/type_table.h"
#include "heap/walk.h"
#include "objects/object_index.h"
#include "runtime/object_1.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

// An object that is being made has no MethodTable yet.
bool was_overwritten(const Runtime &runtime, const Gap &gap) {
  return gap.reason == no_sound_object && runtime.memory().try_pointer(gap.start).value_or(0) != 0;
}

// Returns the object that ends where the gap begins, in words; empty: Free space or a gap lies between.
std::string object_before_damage(const Snapshot &snapshot, Address gap) {
  const ObjectId id = snapshot.index().last_at_or_before(gap - 1);
  if (id == no_object)
    return "";
  const Runtime &runtime = snapshot.runtime();
  const Memory &memory = runtime.memory();
  const Address object = snapshot.index().address(id), type = method_table_of(memory, object);
  TypeTable types(runtime.types(), snapshot.heap());
  const TypeRow *row = type ? types.find(type) : nullptr;
  if (!row)
    return "";
  const u32 components = memory.try_load<u32>(object + memory.format().pointer_size).value_or(0);
  const u64 size = object_size(row->base_size, row->component_size, components, memory.format());
  constexpr u64 widest_alignment = 8;
  if (object + size > gap || gap - object - size >= widest_alignment)
    return "";
  const std::string &name = runtime.types().name(type);
  return (row->component_size ? fmt::format("a {} of length {}", name, count_text(components)) : "a " + name) + " (" +
         hex(object) + ")";
}

} // namespace

std::string heap_damage(const Snapshot &snapshot) {
  Notes noted_elsewhere;
  if (snapshot.runtime().gc_structures_valid(noted_elsewhere) == false)
    return "";
  if (!snapshot.heap().gaps().empty()) // what was not stored looks like damage where a stored piece begins
    return "";
  for (const Gap &gap : snapshot.tally().walk.gaps.listed()) {
    if (!was_overwritten(snapshot.runtime(), gap))
      continue;
    const std::string before = object_before_damage(snapshot, gap.start);
    return "the heap is damaged at " + hex(gap.start) +
           (before.empty() ? ": something overwrote the object there"
                           : ", behind " + before + ": something wrote past its end");
  }
  return "";
}

} // namespace dnheap
