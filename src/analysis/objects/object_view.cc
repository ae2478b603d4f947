#include "analysis/objects/object_view.h"

#include "analysis/names/compiled_names.h"
#include "base/not_found.h"
#include "base/text.h"

#include <algorithm>
#include <cstdlib>

namespace dnheap {

ObjectView::ObjectView(const Snapshot &snapshot)
    : snapshot_(snapshot), index_(snapshot.index()), references_(snapshot.references()), reader_(references_),
      fields_(snapshot.runtime().fields()), suspended_(snapshot) {}

ObjectId ObjectView::at(Address address, std::string &note) {
  if (ObjectId object = index_.find(address); object != no_object)
    return object;
  const Heap &heap = snapshot_.heap();
  if (!heap.holds(address))
    throw NotFound(hex(address) +
                   " is not an object: it lies outside the managed heap (dnheap segments shows where the heap is)");
  if (ObjectId before = index_.last_at_or_before(address); before != no_object)
    if (Address start = index_.address(before); address - start < aligned_size(before)) {
      note = hex(address) + " lies " + std::to_string(address - start) + (address - start == 1 ? " byte" : " bytes") +
             " inside the object at " + hex(start);
      return before;
    }
  throw NotFound(hex(address) +
                 " is not an object: it lies in free space of the heap, or in a part of the heap that could not be "
                 "walked; dnheap objects --range lists the objects around it");
}

Address ObjectView::method_table(ObjectId object) {
  OpenedObject opened;
  return reader_.open(address(object), opened) ? opened.type->method_table : 0;
}

const std::string &ObjectView::type_name(ObjectId object) {
  return snapshot_.runtime().types().name(method_table(object));
}

std::string ObjectView::call_of(ObjectId object) {
  const std::string call = call_of_box(type_name(object));
  return call.empty() ? suspended_.method_of(address(object)) : call;
}

u64 ObjectView::size(ObjectId object) {
  OpenedObject opened;
  return reader_.open(address(object), opened) ? opened.size : 0;
}

const ObjectRange *range_of(const Heap &heap, Address object) {
  std::span<const ObjectRange> ranges = heap.ranges();
  auto after = std::upper_bound(ranges.begin(), ranges.end(), object,
                                [](Address a, const ObjectRange &range) { return a < range.address; });
  return after == ranges.begin() ? nullptr : &*std::prev(after);
}

u64 ObjectView::aligned_size(ObjectId object) {
  const ObjectRange *in = range_of(snapshot_.heap(), address(object));
  return in ? align_up(size(object), in->alignment) : 0;
}

std::optional<u32> ObjectView::elements(ObjectId object) {
  if (!fields_.elements(method_table(object)))
    return std::nullopt;
  const Memory &memory = snapshot_.runtime().memory();
  return memory.try_load<u32>(address(object) + memory.format().pointer_size);
}

std::optional<CollectionFill> ObjectView::fill(ObjectId id) {
  if (!CollectionShapes::is_called_so(snapshot_.runtime(), method_table(id)) || snapshot_.target().has_blanked_values())
    return std::nullopt; // blanked values include the count
  Address object = address(id);
  const CollectionShapes shapes(snapshot_.runtime(), references_.types(), index_.count());
  OpenedObject opened;
  for (u64 i = 0; i < 2; ++i) { // a wrapper, and the collection inside
    if (!reader_.open(object, opened) || !shapes.is_collection(opened.id))
      return std::nullopt;
    const std::optional<CollectionFill> fill = shapes.read(opened, reader_, snapshot_.runtime().memory().format());
    if (!fill || !fill->inner || fill->is_builder)
      return fill;
    object = fill->inner;
  }
  return std::nullopt;
}

const char *ObjectView::generation(ObjectId object) const {
  const ObjectRange *in = range_of(snapshot_.heap(), address(object));
  return in ? name_of(in->generation) : "";
}

void ObjectView::for_each_reference(ObjectId object, const std::function<bool(const Reference &)> &visit) {
  OpenedObject opened;
  if (!reader_.open(address(object), opened))
    return;
  bool on = true;
  opened.type->references.for_each_slot(opened.bytes, opened.size, references_.format(), [&](const std::byte *slot) {
    if (!on)
      return;
    if (u64 target = load_pointer(slot, references_.format()))
      on = visit({static_cast<u64>(slot - opened.bytes), target});
  });
  if (on && opened.type->loader_allocator)
    on = visit({std::nullopt, opened.type->loader_allocator, to_loader_allocator});
  for (const Dependent &dependent : references_.dependents().of(opened.address))
    if (on)
      on = visit({std::nullopt, dependent.secondary, to_dependent});
}

std::string ObjectView::field(ObjectId object, const Reference &reference, Indices indices) {
  if (!reference.offset)
    return reference.hidden;
  const Address at = address(object);
  // Statics of collectible types are elements of arrays; the field's name is more useful than the index.
  const RootSet &roots = snapshot_.roots();
  if (const NamedSlot *slot = roots.find_slot(at + *reference.offset))
    return slot->thread ? "[thread_static " + roots.names[slot->name] +
                              (indices == Indices::told ? " of " + roots.threads[slot->thread - 1].text() : "") + "]"
                        : "[static " + roots.names[slot->name] + "]";
  const Address mt = method_table(object);
  if (suspended_.is_call(mt))
    if (const std::string variable = suspended_.variable_at(at, *reference.offset); !variable.empty())
      return "." + variable;
  return indices == Indices::told ? fields_.exact_reference(at, mt, *reference.offset)
                                  : fields_.text(fields_.reference(mt, *reference.offset));
}

std::string ObjectView::field_between(ObjectId from, ObjectId to, Indices indices) {
  std::string out;
  const Address target = address(to);
  for_each_reference(from, [&](const Reference &reference) {
    if (reference.target != target)
      return true;
    out = field(from, reference, indices);
    return false;
  });
  return out;
}

std::string ObjectView::fields_between(ObjectId from, ObjectId to) {
  constexpr u64 most_told = 3;
  std::string out;
  const Address target = address(to);
  u64 count = 0;
  for_each_reference(from, [&](const Reference &reference) {
    if (reference.target == target && ++count <= most_told)
      out += (out.empty() ? "" : ", ") + field(from, reference, Indices::told);
    return true;
  });
  return count > most_told ? out + " and " + count_text(count - most_told) + " more" : out;
}

const std::string &ObjectView::delegate_text(ObjectId object) { return calls(object).text; }

u64 ObjectView::delegate_targets(ObjectId object) { return calls(object).targets; }

const ObjectView::Calls &ObjectView::calls(ObjectId object) {
  constexpr u64 most_targets = 1 << 20, most_methods = 4;
  static const Calls none;
  if (auto known = calls_.find(static_cast<u32>(object)); known != calls_.end())
    return known->second;
  const std::vector<DelegateTarget> targets =
      fields_.delegate_targets(address(object), method_table(object), most_targets);
  if (targets.empty())
    return none;
  std::vector<std::pair<std::string_view, u64>> methods; // in order, with their number
  std::unordered_map<std::string_view, u64> place;
  for (const DelegateTarget &target : targets) {
    auto [at, is_new] = place.try_emplace(target.method, methods.size());
    if (is_new)
      methods.emplace_back(target.method, 0);
    ++methods[at->second].second;
  }
  Calls out;
  out.targets = targets.size();
  for (u64 i = 0; i < std::min<u64>(methods.size(), most_methods); ++i) {
    (out.text += i ? ", " : "") += methods[i].first;
    if (methods[i].second > 1)
      out.text += " ×" + count_text(methods[i].second);
  }
  if (methods.size() > most_methods)
    out.text += " and " + count_text(methods.size() - most_methods) + " other methods";
  return calls_.emplace(static_cast<u32>(object), std::move(out)).first->second;
}

} // namespace dnheap
