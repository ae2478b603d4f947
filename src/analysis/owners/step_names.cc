#include "analysis/owners/step_names.h"

#include "base/count_bits.h"
#include "base/parallel.h"

#include <atomic>

namespace dnheap {
namespace {

constexpr u64 most_slots = 4096; // of a type: the references of larger ones are named object by object

} // namespace

LargeArray<u32> StepNames::name_steps(const ShortestPaths &search, std::span<const ObjectId> instances) {
  const Watch &watch = snapshot_.watch();
  Timer timer(watch, "names of steps");
  const ObjectGraph &graph = snapshot_.graph();
  const PathObjects on_paths(search, graph.objects(), instances, snapshot_.threads(), watch);
  const StepLabels labels{.by_type = labels_of_types(on_paths.inner),
                          .loader_allocator = number(ObjectView::to_loader_allocator),
                          .dependent = number(ObjectView::to_dependent),
                          .apart = with_static_fields(),
                          .of_object = [&](ObjectId object, const auto &visit) { visit_references(object, visit); }};
  return label_steps(snapshot_.index(), snapshot_.references(), graph, search, on_paths, labels, snapshot_.threads(),
                     watch);
}

// Names references of those types only from whose objects a path leads on.
std::vector<SlotLabels> StepNames::labels_of_types(const ObjectBits &inner) {
  const ObjectGraph &graph = snapshot_.graph();
  std::vector<u8> used(snapshot_.references().types().size() + 1); // the last one: unknown types
  parallel_for_parts(inner.words().size(), 1024, snapshot_.threads(), [&](u64 begin, u64 end, unsigned) {
    for (u64 i = begin; i < end; ++i)
      for_each_bit(inner.words()[i], [&](u64 bit) {
        const u32 type = static_cast<u32>(graph.type(ObjectId(i * 64 + bit)));
        if (std::atomic_ref one(used[type]); one.load(std::memory_order_relaxed) == 0)
          one.store(1, std::memory_order_relaxed);
      });
  });
  std::vector<SlotLabels> out(used.size());
  for (u32 i = 0; i + 1 < out.size(); ++i)
    if (used[i] != 0) {
      snapshot_.watch().check();
      out[i] = labels_of(TypeId{i});
    }
  return out;
}

SlotLabels StepNames::labels_of(TypeId id) {
  const ObjectType &type = snapshot_.references().types()[id];
  if (snapshot_.runtime().is_continuation(type.method_table))
    return {};
  const std::span<const GCDesc::Run> runs = type.references.runs();
  const u64 p = snapshot_.references().format().pointer_size;
  SlotLabels out;
  const bool grows = std::any_of(runs.begin(), runs.end(), [](const GCDesc::Run &run) { return run.grows; });
  if (grows || type.references.repeats_from()) {
    std::optional<SlotLabels> elements = labels_of_elements(type);
    if (!elements)
      return {};
    out = std::move(*elements);
  } else {
    u64 slots = 0;
    for (const GCDesc::Run &run : runs)
      slots += (run.bytes + p - 1) / p;
    if (slots > most_slots)
      return {};
    for (const GCDesc::Run &run : runs)
      for (u64 at = 0; at < run.bytes; at += p)
        out.slots.push_back(number_at(type, run.offset + at));
  }
  out.to_own_type = insides_.is_node(id) ? number(node_to_node) : 0;
  out.by_object = false;
  return out;
}

// Nullopt if the elements' names are not known to repeat as the references do.
std::optional<SlotLabels> StepNames::labels_of_elements(const ObjectType &type) {
  const std::optional<ElementShape> shape = snapshot_.runtime().fields().elements(type.method_table);
  const std::span<const GCDesc::Run> runs = type.references.runs();
  const u64 p = snapshot_.references().format().pointer_size;
  SlotLabels out;
  if (const std::optional<u32> from = type.references.repeats_from()) {
    u64 size = 0, references = 0;
    for (const GCDesc::Run &run : runs)
      size += u64{run.bytes} + run.offset, references += run.bytes / p;
    if (!shape || shape->size != size || *from < shape->start || references == 0 || references > most_slots)
      return std::nullopt;
    u64 offset = *from;
    for (const GCDesc::Run &run : runs) {
      for (u64 at = 0; at < run.bytes; at += p)
        out.slots.push_back(number_at(type, offset + at));
      offset += u64{run.bytes} + run.offset;
    }
    out.period = static_cast<u32>(out.slots.size());
    return out;
  }
  if (!shape || shape->size == 0 || shape->size % p != 0 || shape->size / p > most_slots || runs.size() != 1 ||
      runs[0].offset < shape->start)
    return std::nullopt;
  for (u64 at = 0; at < shape->size; at += p)
    out.slots.push_back(number_at(type, runs[0].offset + at));
  out.period = static_cast<u32>(out.slots.size());
  return out;
}

u32 StepNames::number_at(const ObjectType &type, u64 offset) {
  Fields &fields = snapshot_.runtime().fields();
  return number(fields.text(fields.reference(type.method_table, offset)));
}

void StepNames::visit_references(ObjectId object, const std::function<void(u32 label, ObjectId target)> &visit) {
  snapshot_.watch().check();
  const ObjectGraph &graph = snapshot_.graph();
  const TypeId type = graph.type(object);
  view_.for_each_reference(object, [&](const ObjectView::Reference &reference) {
    if (const ObjectId target = snapshot_.index().find(reference.target); target != no_object)
      visit(number(graph.type(target) == type && insides_.is_node(type)
                       ? node_to_node
                       : view_.field(object, reference, ObjectView::Indices::folded)),
            target);
    return true;
  });
}

// Returns the arrays in which static fields of collectible types are, and maybe some objects more.
ObjectBits StepNames::with_static_fields() const {
  ObjectBits out(snapshot_.graph().objects());
  for (const NamedSlot &slot : snapshot_.roots().slots)
    if (const ObjectId object = snapshot_.index().last_at_or_before(slot.slot); object != no_object)
      out.set(object);
  return out;
}

u32 StepNames::number(std::string text) {
  auto [at, is_new] = numbers_.try_emplace(std::move(text), static_cast<u32>(texts_.size() + 1));
  if (is_new)
    texts_.push_back(at->first);
  return at->second;
}

} // namespace dnheap
