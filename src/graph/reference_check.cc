#include "graph/reference_check.h"

#include "heap/gcdesc.h"
#include "heap/walk.h"

#include <set>

namespace dnheap {

namespace {

u64 mix(u64 a, u64 b) {
  u64 h = a * 0x9e3779b97f4a7c15 + b;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  return h ^ h >> 32;
}

// One thread's part. A look-up in the index is a cache miss as often as not, so references are gathered and asked for
// ahead.
class Checker {
public:
  Checker(const Heap &heap, const Runtime &runtime, const ObjectIndex &index, u64 most)
      : runtime_(runtime), index_(index), format_(runtime.memory().format()), most_(most),
        types_(runtime.types(), heap) {
    types_.find(runtime.types().free_object_method_table());
    has_free_ = types_.size() != 0;
  }

  TypeTable &types() { return types_; }
  void begin_chunk(const ObjectRange &) {}
  void operator()(const Object &object) {
    if (object.type == 0 && has_free_)
      return;
    ++result.objects;
    if (object.type >= descs_.size())
      add_types();
    const GCDesc &desc = descs_[object.type];
    if (desc.empty())
      return;
    desc.for_each_slot(object.bytes, object.size, format_, [&](const std::byte *slot) {
      u64 target = load_pointer(slot, format_);
      if (target == 0)
        return;
      index_.prefetch(target);
      waiting_[waiting_count_++] = {object.address,
                                    types_.method_table(object.type),
                                    object.address + static_cast<u64>(slot - object.bytes),
                                    target,
                                    {}};
      if (waiting_count_ == waiting_.size())
        settle();
    });
  }
  void end_chunk(const ChunkResult &) { settle(); }

  ReferenceCheck result;

private:
  void settle() {
    for (u64 i = 0; i < waiting_count_; ++i) {
      const BadReference &reference = waiting_[i];
      ++result.references;
      result.edges += mix(reference.object, reference.target);
      if (!index_.is_object(reference.target)) {
        ++result.bad;
        if (result.bad_references.size() < most_)
          result.bad_references.push_back(reference);
      }
    }
    waiting_count_ = 0;
  }

  void add_types() {
    while (descs_.size() < types_.size()) {
      Address mt = types_.method_table(static_cast<u32>(descs_.size()));
      std::optional<ObjectLayout> layout = runtime_.types().object_layout(mt);
      std::optional<GCDesc> desc = GCDesc();
      if (layout && layout->contains_gc_pointers)
        desc = GCDesc::at(runtime_.memory(), mt, layout->base_size, layout->component_size);
      if (!desc)
        result.undescribed.push_back(mt);
      descs_.push_back(desc.value_or(GCDesc()));
    }
  }

  const Runtime &runtime_;
  const ObjectIndex &index_;
  const Format format_;
  const u64 most_;
  TypeTable types_;
  bool has_free_ = false;
  std::vector<GCDesc> descs_; // by type
  std::array<BadReference, 64> waiting_;
  u64 waiting_count_ = 0;
};

ReferenceProblem problem_of(Address target, const Heap &heap, const Runtime &runtime) {
  if (!heap.holds(target))
    return ReferenceProblem::outside;
  const u64 mark_bits = runtime.memory().format().pointer_size - 1;
  std::optional<u64> mt = runtime.memory().try_pointer(target);
  return mt && (*mt & ~mark_bits) == runtime.types().free_object_method_table() ? ReferenceProblem::free_space
                                                                                : ReferenceProblem::no_object;
}

} // namespace

ReferenceCheck check_references(const Heap &heap, const Runtime &runtime, const ObjectIndex &index, unsigned threads,
                                const Watch &watch, u64 most) {
  std::vector<std::unique_ptr<Checker>> checkers;
  HeapWalk walk(heap, runtime.memory(), threads, watch);
  walk.run(checkers, [&] { return std::make_unique<Checker>(heap, runtime, index, most); });
  ReferenceCheck out;
  std::set<Address> undescribed;
  for (const auto &checker : checkers) {
    ReferenceCheck &part = checker->result;
    out.objects += part.objects;
    out.references += part.references;
    out.edges += part.edges;
    out.bad += part.bad;
    out.bad_references.insert(out.bad_references.end(), part.bad_references.begin(), part.bad_references.end());
    undescribed.insert(part.undescribed.begin(), part.undescribed.end());
  }
  // Each thread keeps the first that it meets, and meets chunks in order: the first of all are among them.
  std::sort(out.bad_references.begin(), out.bad_references.end(),
            [](const BadReference &a, const BadReference &b) { return a.slot < b.slot; });
  if (out.bad_references.size() > most)
    out.bad_references.resize(most);
  for (BadReference &reference : out.bad_references)
    reference.problem = problem_of(reference.target, heap, runtime);
  out.undescribed.assign(undescribed.begin(), undescribed.end());
  return out;
}

} // namespace dnheap
