#include "analysis/owners/type_paths.h"

#include "analysis/objects/inside_of.h"
#include "analysis/objects/object_view.h"
#include "analysis/owners/ranked_paths.h"
#include "analysis/owners/signature.h"
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

// Numbers for the names of the search's steps. When a parent is first asked about, all objects that were met from it
// are named, so each reference is looked at once however many an array has.
class StepNames {
public:
  StepNames(const Snapshot &snapshot, ObjectView &view, const Insides &insides, const ShortestPaths &search)
      : snapshot_(snapshot), view_(view), search_(search), label_(snapshot.graph().objects()), insides_(insides) {}

  u32 step(ObjectId from, ObjectId to) {
    if (label_[static_cast<u32>(to)] == 0)
      name_children(from);
    return label_[static_cast<u32>(to)];
  }
  const std::string &text(u32 label) const { return texts_[label - 1]; }

private:
  void name_children(ObjectId parent) {
    snapshot_.watch().check();
    view_.for_each_reference(parent, [&](const ObjectView::Reference &reference) {
      ObjectId child = snapshot_.index().find(reference.target);
      if (child != no_object && label_[static_cast<u32>(child)] == 0 && search_.parent(child) == parent)
        label_[static_cast<u32>(child)] = number(
            are_nodes(parent, child) ? node_to_node : view_.field(parent, reference, ObjectView::Indices::folded));
      return true;
    });
  }
  bool are_nodes(ObjectId parent, ObjectId child) const {
    const ObjectGraph &graph = snapshot_.graph();
    return graph.type(parent) == graph.type(child) && insides_.is_node(graph.type(parent));
  }
  u32 number(std::string text) {
    auto [at, is_new] = numbers_.try_emplace(std::move(text), static_cast<u32>(texts_.size() + 1));
    if (is_new)
      texts_.push_back(at->first);
    return at->second;
  }

  const Snapshot &snapshot_;
  ObjectView &view_;
  const ShortestPaths &search_;
  LargeArray<u32> label_; // by ObjectId: number() of the name of the step that leads to the object; 0: not yet named
  const Insides &insides_;
  std::unordered_map<std::string, u32> numbers_;
  std::vector<std::string> texts_;
};

std::vector<ObjectId> instances_of(const ObjectGraph &graph, const std::vector<bool> &types) {
  auto is_one = [&](TypeId type) { return static_cast<u32>(type) < types.size() && types[static_cast<u32>(type)]; };
  std::vector<ObjectId> out;
  out.reserve(static_cast<u64>(std::count_if(graph.types().begin(), graph.types().end(), is_one))); // tens of millions
  for (u32 i = 0; i < graph.objects(); ++i)
    if (is_one(graph.type(ObjectId{i})))
      out.push_back(ObjectId{i});
  return out;
}

struct Held {
  ObjectId object;
  u32 path; // number of its path among those found
};

// Computes how much would be freed with the instances of each of the groups with most bytes.
void add_retained(const Snapshot &snapshot, const std::vector<Held> &instances, std::vector<TypePath> &paths) {
  const ObjectGraph &graph = snapshot.graph();
  std::vector<u32> order(paths.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return paths[a].bytes > paths[b].bytes; });
  order.resize(std::min<u64>(order.size(), most_retained));
  std::vector<u8> set_of_path(paths.size());
  for (u32 i = 0; i < order.size(); ++i)
    set_of_path[order[i]] = static_cast<u8>(1 + i);
  LargeArray<u8> set_of(graph.objects());
  for (const Held &held : instances)
    set_of[static_cast<u32>(held.object)] = set_of_path[held.path];
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
      : snapshot_(snapshot), view_(view), search_(search), names_(snapshot, view, insides, search) {}

  void add(std::span<const ObjectId> instances, TypePaths &out, std::vector<Held> &held) {
    const ObjectGraph &graph = snapshot_.graph();
    const ObjectSizes sizes = snapshot_.sizes();
    const PathLabels labels{[](OwnerId owner) { return static_cast<u32>(owner); },
                            [&](ObjectId from, ObjectId to) { return names_.step(from, to); }};
    const FoldedPaths folded = fold_paths(search_, graph.objects(), instances, labels, snapshot_.watch());
    const u64 before = out.paths.size();
    out.not_folded += folded.not_folded;
    for (const FoldedPath &path : folded.paths)
      out.paths.push_back(named(path));
    for (u64 i = 0; i < instances.size(); ++i)
      if (folded.path_of[i] != FoldedPaths::none) {
        const u32 path = static_cast<u32>(before) + folded.path_of[i];
        out.paths[path].bytes += sizes.of(instances[i]);
        held.push_back({instances[i], path});
      }
  }

private:
  TypePath named(const FoldedPath &path) {
    const WayOwner owner = way_owner(snapshot_, OwnerId{path.owner});
    TypePath to;
    to.owner = OwnerId{path.owner};
    to.owner_text = owner.name;
    to.is_static = owner.is_static;
    to.instances = path.instances;
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
  std::vector<ObjectId> instances = instances_of(snapshot.graph(), marked(snapshot, is_meant));
  TypePaths out;
  out.instances = instances.size();
  ObjectView view(snapshot);
  const Insides insides(snapshot.runtime(), snapshot.references().types());
  std::vector<Held> held;
  held.reserve(instances.size());
  const std::shared_ptr<const RankedPaths> ways = ranked_paths(snapshot);
  for (const std::optional<ShortestPaths> &search : ways->searches()) {
    if (!search)
      continue;
    auto is_lost = [&](ObjectId object) { return !search->met(object); };
    // Mostly the search met all instances, and the vector stays as it is.
    auto met = std::find_if(instances.begin(), instances.end(), is_lost);
    met =
        met == instances.end() ? instances.begin() : std::stable_partition(instances.begin(), instances.end(), is_lost);
    if (met != instances.end())
      Folding(snapshot, view, insides, *search).add({met, instances.end()}, out, held);
    instances.erase(met, instances.end());
  }
  for (ObjectId object : instances)
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
