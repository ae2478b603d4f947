#include "analysis/owners/type_paths.h"

#include "analysis/owners/ranked_paths.h"
#include "analysis/owners/signature.h"
#include "analysis/owners/step_names.h"
#include "base/parallel.h"
#include "objects/object_graph.h"

#include <algorithm>
#include <numeric>

namespace dnheap {

namespace {

// Returns a flag per TypeId.
std::vector<bool> marked(const Snapshot &snapshot, const std::function<bool(Address)> &is_meant) {
  const HeapTypes &types = snapshot.references().types();
  std::vector<bool> out(types.size());
  for (u32 i = 0; i < types.size(); ++i)
    out[i] = is_meant(types[TypeId{i}].method_table);
  return out;
}

// Returns the objects of these types, which may be tens of millions, ascending.
std::vector<ObjectId> instances_of(const Snapshot &snapshot, const std::vector<bool> &types) {
  constexpr u64 part_size = u64{1} << 18;
  const ObjectGraph &graph = snapshot.graph();
  auto is_one = [&](TypeId type) { return static_cast<u32>(type) < types.size() && types[static_cast<u32>(type)]; };
  std::vector<u64> first((graph.objects() + part_size - 1) / part_size + 1);
  parallel_for_parts(graph.objects(), part_size, snapshot.threads(), [&](u64 begin, u64 end, unsigned) {
    const std::span<const TypeId> part = graph.types().subspan(begin, end - begin);
    first[begin / part_size + 1] = static_cast<u64>(std::count_if(part.begin(), part.end(), is_one));
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<ObjectId> out(first.back());
  parallel_for_parts(graph.objects(), part_size, snapshot.threads(), [&](u64 begin, u64 end, unsigned) {
    snapshot.watch().check();
    u64 at = first[begin / part_size];
    for (u64 i = begin; i < end; ++i)
      if (is_one(graph.type(ObjectId(i))))
        out[at++] = ObjectId(i);
  });
  return out;
}

// Instances whose paths one search found.
struct Held {
  std::span<const ObjectId> instances;
  LargeArray<u32> path_of; // by instance: `none`, or its path among those of this search
  u64 first = 0;           // of these paths, among all
};

// Computes how much would be freed with the instances of each of the groups with most bytes.
void add_retained(const Snapshot &snapshot, const std::vector<Held> &held, std::vector<TypePath> &paths) {
  const ObjectGraph &graph = snapshot.graph();
  std::vector<u32> order(paths.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return paths[a].bytes > paths[b].bytes; });
  order.resize(std::min<u64>(order.size(), most_retained));
  std::vector<u8> set_of_path(paths.size());
  for (u32 i = 0; i < order.size(); ++i)
    set_of_path[order[i]] = static_cast<u8>(1 + i);
  LargeArray<u8> set_of(graph.objects());
  for (const Held &some : held)
    parallel_for_parts(some.instances.size(), 1 << 16, snapshot.threads(), [&](u64 begin, u64 end, unsigned) {
      for (u64 i = begin; i < end; ++i)
        if (some.path_of[i] != FoldedPaths::none)
          set_of[static_cast<u32>(some.instances[i])] = set_of_path[some.first + some.path_of[i]];
    });
  const std::vector<Retained> retained =
      retained_by_each(graph.edges(), snapshot.sizes(), snapshot.owned_roots(), std::move(set_of),
                       static_cast<u32>(order.size()), snapshot.threads(), snapshot.watch());
  for (u32 i = 0; i < order.size(); ++i)
    paths[order[i]].retained = retained[i].bytes;
}

// Folds the paths of the instances that one search reached.
class Folding {
public:
  Folding(const Snapshot &snapshot, ObjectView &view, const Insides &insides, const ShortestPaths &search)
      : snapshot_(snapshot), view_(view), search_(search), names_(snapshot, view, insides) {}

  Held add(std::span<const ObjectId> instances, TypePaths &out) {
    const LargeArray<u32> steps = names_.name_steps(search_, instances);
    const PathLabels labels{.owner = [](OwnerId owner) { return static_cast<u32>(owner); }, .steps = steps};
    FoldedPaths folded =
        fold_paths(search_, snapshot_.sizes(), instances, labels, snapshot_.threads(), snapshot_.watch());
    Held held{.instances = instances, .path_of = std::move(folded.path_of), .first = out.paths.size()};
    out.not_folded += folded.not_folded;
    for (const FoldedPath &path : folded.paths)
      out.paths.push_back(named(path));
    return held;
  }

private:
  TypePath named(const FoldedPath &path) {
    const WayOwner owner = way_owner(snapshot_, OwnerId{path.owner});
    TypePath to;
    to.owner = OwnerId{path.owner};
    to.owner_text = owner.name;
    to.is_static = owner.is_static;
    to.instances = path.instances;
    to.bytes = path.bytes;
    to.example = view_.address(path.example);
    std::vector<std::string> fields;
    for (const FoldedStep &step : path.steps) {
      TypePath::Step &words = to.steps.emplace_back();
      words.least = step.least;
      words.most = step.most;
      for (u32 label : step.labels) {
        words.fields.push_back(names_.text(label));
        fields.push_back(names_.text(label));
      }
    }
    to.signature = signature(owner.source, {});
    to.way = signature(owner.source, fields);
    return to;
  }

  const Snapshot &snapshot_;
  ObjectView &view_;
  const ShortestPaths &search_;
  StepNames names_;
};

} // namespace

TypePaths find_type_paths(const Snapshot &snapshot, const std::function<bool(Address)> &is_meant) {
  std::vector<ObjectId> instances = instances_of(snapshot, marked(snapshot, is_meant));
  TypePaths out;
  out.instances = instances.size();
  ObjectView view(snapshot);
  const Insides insides(snapshot.runtime(), snapshot.references().types());
  std::vector<Held> held;
  const std::shared_ptr<const RankedPaths> ways = ranked_paths(snapshot);
  auto end = instances.end(); // of those that no search has met yet
  for (const std::optional<ShortestPaths> &search : ways->searches()) {
    if (!search)
      continue;
    auto is_lost = [&](ObjectId object) { return !search->met(object); };
    // Mostly the search met all instances, and the vector stays as it is.
    auto met = std::find_if(instances.begin(), end, is_lost);
    met = met == end ? instances.begin() : std::stable_partition(instances.begin(), end, is_lost);
    if (met != end)
      held.push_back(Folding(snapshot, view, insides, *search).add({met, end}, out));
    end = met;
  }
  for (ObjectId object : std::span(instances.begin(), end))
    ++(snapshot.heap().is_frozen(view.address(object)) ? out.frozen : out.unreachable);
  add_retained(snapshot, held, out.paths);
  std::stable_sort(out.paths.begin(), out.paths.end(),
                   [](const TypePath &a, const TypePath &b) { return a.bytes > b.bytes; });
  return out;
}

std::string TypePath::text() const {
  // "static Shop.Cache.Items._size" reads well; "stack of thread 5._size" does not.
  std::string out = owner_text + (is_static || steps.empty() ? "" : " → ");
  for (const Step &step : steps) {
    const bool repeats = step.least != 1 || step.most != 1;
    out += repeats && step.fields.size() > 1 ? "(" : "";
    for (const std::string &field : step.fields)
      out += field;
    if (repeats)
      out += (step.fields.size() > 1 ? ")×" : "×") + std::to_string(step.least) +
             (step.least == step.most ? "" : ".." + std::to_string(step.most));
  }
  return out;
}

} // namespace dnheap
