#include "analysis/owners/step_labels.h"

#include "base/parallel.h"

#include <array>
#include <mutex>

namespace dnheap {
namespace {

constexpr u64 large = u64{1} << 16; // references: an object with so many is shared by the threads
constexpr u64 part_of_large = u64{1} << 14;

class Labelling {
public:
  Labelling(const ObjectGraph &graph, const ShortestPaths &search, const PathObjects &on_paths,
            const StepLabels &labels)
      : graph_(graph), search_(search), on_paths_(on_paths), labels_(labels), out_(graph.objects()) {}

  // Puts labels on what a thread's objects refer to. A few references wait for what they will read.
  class Writer {
  public:
    explicit Writer(Labelling &of) : of_(of) {}
    ~Writer() { flush(); }
    void add(ObjectId from, ObjectId to, u32 label) {
      if (!of_.on_paths_.all.test(to))
        return;
      of_.search_.prefetch(to);
      __builtin_prefetch(&of_.out_[static_cast<u32>(to)], 1);
      steps_[waiting_++] = {from, to, label};
      if (waiting_ == steps_.size())
        flush();
    }

  private:
    struct Step {
      ObjectId from, to;
      u32 label;
    };
    void flush() {
      for (const Step &step : std::span(steps_).first(waiting_))
        of_.put(step.from, step.to, step.label);
      waiting_ = 0;
    }
    Labelling &of_;
    std::array<Step, 64> steps_;
    u64 waiting_ = 0;
  };

  void put(ObjectId from, ObjectId to, u32 label) {
    // Only the parts of one array may meet at an object, and give it the same label.
    std::atomic_ref<u32> at(out_[static_cast<u32>(to)]);
    if (at.load(std::memory_order_relaxed) != 0 || search_.parent(to) != from)
      return;
    const u32 to_own_type = labels_.by_type[static_cast<u32>(graph_.type(from))].to_own_type;
    at.store(to_own_type != 0 && graph_.type(to) == graph_.type(from) ? to_own_type : label, std::memory_order_relaxed);
  }
  LargeArray<u32> take() { return std::move(out_); }

private:
  const ObjectGraph &graph_;
  const ShortestPaths &search_;
  const PathObjects &on_paths_;
  const StepLabels &labels_;
  LargeArray<u32> out_;
};

// Calls visit(label, target) for each reference of an object that leads to an object.
template <class Visit>
void visit_labelled(const OpenedObject &object, const References &references, const ObjectGraph &graph, ObjectId id,
                    const ObjectIndex &index, const StepLabels &labels, Visit visit) {
  // The graph has the same references, without those that lead to no object.
  const std::span<const ObjectId> targets = graph.edges().of(id);
  const bool is_sound = graph.bad_references() == 0;
  u64 next = 0;
  auto meet = [&](u32 label, Address address) {
    const ObjectId target = !is_sound ? index.find(address) : next < targets.size() ? targets[next++] : no_object;
    if (target != no_object)
      visit(label, target);
  };
  const SlotLabels &of = labels.by_type[static_cast<u32>(object.id)];
  u64 slot = 0;
  object.type->references.for_each_slot(object.bytes, object.size, references.format(), [&](const std::byte *at) {
    if (const u64 target = load_pointer(at, references.format()))
      meet(of.of(slot), target);
    ++slot;
  });
  if (!object.type->has_hidden)
    return;
  if (object.type->loader_allocator)
    meet(labels.loader_allocator, object.type->loader_allocator);
  for (const Dependent &dependent : references.dependents().of(object.address))
    if (dependent.secondary)
      meet(labels.dependent, dependent.secondary);
}

bool has_any(const ObjectBits &bits, u64 begin, u64 end) {
  for (u64 i = begin / 64; i < (end + 63) / 64; ++i)
    if (bits.words()[i] != 0)
      return true;
  return false;
}

} // namespace

std::optional<u32> SlotLabels::only() const {
  if (by_object || to_own_type != 0 || slots.empty() ||
      std::any_of(slots.begin(), slots.end(), [&](u32 label) { return label != slots[0]; }))
    return std::nullopt;
  return slots[0];
}

LargeArray<u32> label_steps(const ObjectIndex &index, const References &references, const ObjectGraph &graph,
                            const ShortestPaths &search, const PathObjects &on_paths, const StepLabels &labels,
                            unsigned threads, const Watch &watch) {
  const Edges edges = graph.edges();
  std::vector<std::optional<u32>> only(labels.by_type.size());
  for (u32 i = 0; i < references.types().size(); ++i)
    if (!references.types()[TypeId{i}].has_hidden)
      only[i] = labels.by_type[i].only();
  Labelling to(graph, search, on_paths, labels);
  std::mutex mutex; // guards `large_ones`, and labels.of_object
  std::vector<ObjectId> large_ones;
  parallel_for(index.places().blocks(), threads, [&](u64 block, unsigned) {
    watch.check();
    if (!has_any(on_paths.inner, index.first_of(block), index.first_of(block + 1)))
      return;
    ReferenceReader reader(references);
    Labelling::Writer writer(to);
    index.for_each(block, [&](ObjectId id, Address address) {
      if (!on_paths.inner.test(id))
        return;
      const u32 type = static_cast<u32>(graph.type(id));
      if (labels.by_type[type].by_object || labels.apart.test(id)) {
        std::lock_guard lock(mutex);
        labels.of_object(id, [&](u32 label, ObjectId target) { to.put(id, target, label); });
        return;
      }
      OpenedObject object;
      if (only[type] && edges.of(id).size() >= large) {
        std::lock_guard lock(mutex);
        large_ones.push_back(id);
      } else if (only[type]) {
        for (ObjectId target : edges.of(id))
          writer.add(id, target, *only[type]);
      } else if (reader.open(address, object)) {
        visit_labelled(object, references, graph, id, index, labels,
                       [&](u32 label, ObjectId target) { writer.add(id, target, label); });
      }
    });
  });
  for (ObjectId id : large_ones) {
    const std::span<const ObjectId> targets = edges.of(id);
    parallel_for_parts(targets.size(), part_of_large, threads, [&](u64 begin, u64 end, unsigned) {
      watch.check();
      Labelling::Writer writer(to);
      for (ObjectId target : targets.subspan(begin, end - begin))
        writer.add(id, target, *only[static_cast<u32>(graph.type(id))]);
    });
  }
  return to.take();
}

} // namespace dnheap
