#include "runtime/coreclr/statics/core_clr_statics.h"

#include "base/text.h"
#include "runtime/coreclr/statics/static_storage.h"
#include "runtime/object_1.h"
#include "runtime/vm/method_table_flags.h"

#include <algorithm>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 max_roots = 1 << 26;

// The addresses of the elements of an object[].
struct ArrayExtent {
  Address start, end, array;
};

// True for a static that is a reference, or a struct: statics of struct type are boxed.
bool refers_to_object(const FieldDesc &field) {
  return field.is_static && !field.is_rva && field.offset &&
         (field.is_reference() || field.type == ElementType::ValueType);
}

class Collection {
public:
  Collection(const Memory &memory, RuntimeTypeSystem1 &types, const FieldDescs &fields,
             std::span<const ThreadData> threads, const StaticStorage &storage)
      : memory_(memory), types_(types), fields_(fields), threads_(threads), storage_(storage),
        p_(memory.format().pointer_size) {}

  void add_type(Address mt) {
    std::optional<u32> flags = types_.flags(mt);
    if (!flags || !storage_.has_statics(mt) || !visited_.insert(mt).second)
      return;
    if ((*flags & mt_contains_generic_variables) || is_array(*flags))
      return;
    std::optional<std::vector<FieldDesc>> own = fields_.own_fields(mt);
    if (!own) {
      ++unreadable;
      return;
    }
    std::erase_if(*own, [](const FieldDesc &field) { return !refers_to_object(field); });
    if (own->empty())
      return;
    if (std::optional<StaticPlace> place = storage_.statics(mt))
      for (const FieldDesc &field : *own)
        if (!field.is_thread_static)
          add(mt, field, *place, 0);
    std::erase_if(*own, [](const FieldDesc &field) { return !field.is_thread_static; });
    if (!own->empty())
      for (const ThreadData &thread : threads_)
        if (std::optional<StaticPlace> place = storage_.thread_statics(mt, thread))
          for (const FieldDesc &field : *own)
            add(mt, field, *place, thread.address);
  }

  std::vector<StaticRoot> roots;
  u64 unreadable = 0;

private:
  void add(Address mt, const FieldDesc &field, const StaticPlace &place, Address thread) {
    Address slot = place.base + *field.offset, object = memory_.try_pointer(slot).value_or(0);
    if (!object || roots.size() >= max_roots)
      return;
    std::string name = fields_.name(field);
    if (name.empty())
      name = "<field " + hex(field.token) + ">";
    roots.push_back({slot, object, types_.name(mt) + "." + name, thread, place.holder, place.is_root});
  }

  const Memory &memory_;
  RuntimeTypeSystem1 &types_;
  const FieldDescs &fields_;
  const std::span<const ThreadData> threads_;
  const StaticStorage &storage_;
  const u64 p_;
  std::unordered_set<Address> visited_;
};

// Returns the arrays of type object[] that strong and pinned handles hold, by address.
std::vector<ArrayExtent> held_arrays(const Memory &memory, const Gc &gc, Address object_array, Notes &notes) {
  const u64 p = memory.format().pointer_size;
  constexpr HandleType types[] = {HandleType::strong, HandleType::pinned};
  std::vector<ArrayExtent> out;
  for (const HandleData &handle : gc.get_handles(types, notes))
    if (method_table_of(memory, handle.object) == object_array) {
      Address start = handle.object + 2 * p;
      out.push_back({start, start + p * memory.try_load<u32>(handle.object + p).value_or(0), handle.object});
    }
  std::sort(out.begin(), out.end(), [](const ArrayExtent &a, const ArrayExtent &b) { return a.start < b.start; });
  return out;
}

void find_holders(const Memory &memory, Address object_array, const std::vector<ArrayExtent> &arrays,
                  std::vector<StaticRoot> &roots) {
  for (StaticRoot &root : roots) {
    if (root.holder && method_table_of(memory, root.holder) != object_array)
      root.holder = 0;
    if (root.holder)
      continue;
    auto after = std::upper_bound(arrays.begin(), arrays.end(), root.slot,
                                  [](Address slot, const ArrayExtent &a) { return slot < a.start; });
    if (after != arrays.begin() && root.slot < std::prev(after)->end)
      root.holder = std::prev(after)->array;
  }
}

} // namespace

std::vector<StaticRoot> CoreClrStatics::static_roots(std::span<const ThreadData> threads, Notes &notes) const {
  std::unique_ptr<StaticStorage> storage = static_storage(*memory_, *descriptor_, *types_, *fields_);
  for (const std::string &why : {storage->why_missing(), fields_->why_missing()})
    if (!why.empty()) {
      notes.add(Subject::statics, Effect::liveness, "static fields are not named: these values were not found: " + why);
      return {};
    }
  Collection found(*memory_, *types_, *fields_, threads, *storage);
  try {
    LoadedTypes loaded(*memory_, *descriptor_, *types_);
    for (Address module : loaded.modules(notes))
      for (Address mt : loaded.types(module, notes))
        found.add_type(mt);
  } catch (const Error &e) {
    notes.add(Subject::statics, Effect::liveness, "static fields are not named: ", e);
  }
  if (found.unreadable)
    notes.add(Subject::statics, Effect::liveness,
              "static fields are not named: the fields of " + count_text(found.unreadable) +
                  (found.unreadable == 1 ? " type" : " types") + " could not be read");
  std::optional<u64> array = descriptor_->try_number("ObjectArrayMethodTable");
  if (Address type = array ? memory_->try_pointer(*array).value_or(0) : 0) {
    Notes ignored; // callers that read the handles get these problems there
    find_holders(*memory_, type, held_arrays(*memory_, *gc_, type, ignored), found.roots);
  }
  for (const ThreadData &thread : threads)
    if (Address held = storage->thread_array(thread))
      found.roots.push_back(
          {storage->thread_array_slot(thread), held, "<array of thread statics>", thread.address, 0, true});
  std::sort(found.roots.begin(), found.roots.end(), [](const StaticRoot &a, const StaticRoot &b) {
    return a.slot != b.slot ? a.slot < b.slot : a.name < b.name;
  });
  return std::move(found.roots);
}

} // namespace dnheap
