// `inspect contexts`: AssemblyLoadContexts, whether they are unloading, and what keeps them alive.
#include "algorithms/paths/shortest_paths.h"
#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/owners/path_steps.h"
#include "analysis/owners/ranked_paths.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/context_allocators.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/resources.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "report/columns_of.h"
#include "runtime/coreclr/loader_heaps.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

constexpr u64 most_paths = 1000; // more paths are not put into words
constexpr const char *context_type = "System.Runtime.Loader.AssemblyLoadContext";
constexpr const char *runtimes_own = "handle:strong System.Reflection.LoaderAllocator";

struct ContextGroup {
  u64 count = 0, bytes = 0, objects = 0, object_bytes = 0, loader_bytes = 0;
  Address example = 0, allocator = 0;
};
struct LoadContextKey {
  std::string type, state, held_by, kept_by;
  auto operator<=>(const LoadContextKey &) const = default;
};
using ContextGroups = std::map<LoadContextKey, ContextGroup>;

bool is_collectible(const std::string &state) { return state.starts_with("collectible"); }

// Returns the number and bytes of the objects whose types belong to each LoaderAllocator.
std::unordered_map<Address, Tally> objects_by_allocator(const Snapshot &snapshot) {
  std::unordered_map<Address, Address> allocators;
  const HeapTypes &types = snapshot.references().types();
  for (u32 i = 0; i < types.size(); ++i)
    if (const Address allocator = types[TypeId{i}].loader_allocator)
      allocators.emplace(types[TypeId{i}].method_table, allocator);
  std::unordered_map<Address, Tally> out;
  for (const TypeTally &type : snapshot.tally().types)
    if (const auto found = allocators.find(type.method_table); found != allocators.end()) {
      Tally &sum = out[found->second];
      sum.count += type.total().count;
      sum.bytes += type.total().bytes;
    }
  return out;
}

// Returns the bytes that the runtime reserved for types and methods of each LoaderAllocator, by its native part.
std::unordered_map<Address, u64> loader_bytes(const Runtime &runtime, const std::vector<Address> &natives) {
  std::unordered_map<Address, u64> out;
  // .NET 10 only publishes where compiled code is, which is the smallest part.
  if (!runtime.descriptor().find_field("LoaderHeap", "FirstBlock"))
    return out;
  for (const LoaderHeapBlock &block : loader_heaps_of(runtime.memory(), runtime.descriptor(), natives))
    out[block.allocator] += block.size;
  return out;
}

// Returns the path that keeps each object alive, elements folded: "static
// Shop.Host.Stopping._invocationList[*]._target(its assembly's LoaderAllocator)". Unreachable objects have none.
std::unordered_map<Address, std::string> ways_of(const Snapshot &snapshot, const std::vector<Address> &objects) {
  std::unordered_map<Address, std::string> out;
  if (objects.empty())
    return out;
  const ObjectIndex &index = snapshot.index();
  std::shared_ptr<const RankedPaths> ways; // made if there are several objects
  if (objects.size() > 1)
    ways = ranked_paths(snapshot);
  std::vector<OwnedPath> paths;
  std::vector<Address> told;
  for (Address object : objects) {
    const ObjectId id = index.find(object);
    if (id == no_object)
      continue;
    if (std::optional<OwnedPath> path = ways ? ways->find(id) : find_ranked_path(snapshot, id).path) {
      paths.push_back(std::move(*path));
      told.push_back(object);
    }
  }
  ObjectView view(snapshot);
  std::vector<PathSteps> steps = path_steps(snapshot, view, paths);
  for (u64 i = 0; i < steps.size(); ++i) {
    for (PathStep &step : steps[i].steps)
      step.field = step.folded;
    out[told[i]] = path_text(steps[i]);
  }
  return out;
}

report::Table contexts_table(const ContextGroups &groups) {
  using G = ContextGroups::value_type;
  const std::vector<const G *> sorted = largest_first(groups, &ContextGroup::count);
  auto if_known = [](u64 ContextGroup::*member) { // absent if the LoaderAllocator is unknown
    return [member](const G &g) { return g.second.allocator ? Cell(g.second.*member) : Cell(); };
  };
  report::Table table = report::ColumnsOf<G>{
      {{"count", "Count", Kind::count}, [](const G &g) { return g.second.count; }},
      {{"bytes", "", Kind::bytes, report::Shown::in_data}, [](const G &g) { return g.second.bytes; }},
      {{"state", "State", Kind::text}, [](const G &g) { return report::text_cell(g.first.state); }},
      {{"type", "Type", Kind::text}, [](const G &g) { return g.first.type; }},
      {{"held_by", "Held by", Kind::text}, [](const G &g) { return g.first.held_by; }},
      {{"objects", "Objects", Kind::count}, if_known(&ContextGroup::objects)},
      {{"object_bytes", "Bytes", Kind::bytes}, if_known(&ContextGroup::object_bytes)},
      {{"loader_bytes", "Loader heaps", Kind::bytes},
       [](const G &g) { return g.second.loader_bytes ? Cell(g.second.loader_bytes) : Cell(); }},
      {{"example", "Example", Kind::address}, [](const G &g) { return g.second.example; }},
      {{"allocator", "Allocator", Kind::address}, if_known(&ContextGroup::allocator)},
      {{"kept_by", "Kept from unloading by", Kind::text, report::Shown::everywhere, true}, [](const G &g) {
         return report::text_cell(g.first.kept_by);
       }}}.table("contexts", "", sorted);
  ContextGroup sum;
  for (const auto &[key, group] : groups) {
    sum.count += group.count;
    sum.bytes += group.bytes;
  }
  table.total =
      total_row(table, {{"count", sum.count}, {"bytes", sum.bytes}, {"type", total_of(sorted.size(), "row")}});
  for (const G *one : first_of(sorted)) {
    explain_compiled_names(one->first.held_by, table.notes);
    explain_compiled_names(one->first.kept_by, table.notes);
  }
  return table;
}

// Returns the object to look at next: the LoaderAllocator of the largest group that is unloading, but kept alive;
// without one, an example of the largest group.
std::optional<Address> next_of(const ContextGroups &groups) {
  std::optional<Address> out;
  for (const auto *one : largest_first(groups, &ContextGroup::count)) {
    const LoadContextKey &key = one->first;
    if (key.state.ends_with("unloading") && one->second.allocator && key.kept_by != HoldingFields::nobody_text)
      return one->second.allocator;
    if (!out)
      out = one->second.example;
  }
  return out;
}

} // namespace

std::optional<std::string> context_state(FieldReader &fields, const Runtime &, Address context) {
  const std::optional<u32> state = fields.number<u32>(context, "_state");
  const std::optional<u8> is_collectible = fields.number<u8>(context, "_isCollectible");
  if (!state || !is_collectible || *state > 1)
    return std::nullopt;
  const std::string what = *is_collectible ? "collectible" : "not collectible";
  return *state == 1 ? what + ", unloading" : what;
}

void inspect_contexts(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  const Runtime &runtime = snapshot.runtime();
  const BaseTypes bases(runtime);
  const std::vector<TypedObject> contexts =
      objects_that(snapshot, [&](Address mt) { return bases.derives(mt, context_type); });
  FieldReader fields(runtime);
  const std::vector<HeldObject> asked = worth_their_size(snapshot, contexts);
  std::vector<std::optional<std::string>> states;
  std::vector<Address> collectible;
  for (const TypedObject &context : contexts) {
    states.push_back(snapshot.target().has_blanked_values() ? std::nullopt
                                                            : context_state(fields, runtime, context.address));
    if (states.back() && is_collectible(*states.back()))
      collectible.push_back(context.address);
  }
  HeldBy holders(snapshot, asked);
  const ContextAllocators allocators(snapshot, collectible);
  const std::unordered_map<Address, Tally> objects = objects_by_allocator(snapshot);
  std::vector<Address> told;
  for (Address context : collectible)
    if (const Address allocator = allocators.of(context); allocator && told.size() < most_paths)
      told.push_back(allocator);
  const std::unordered_map<Address, std::string> ways = ways_of(snapshot, told);
  std::vector<Address> natives;
  for (Address context : collectible)
    natives.push_back(allocators.native_of(context));
  const std::unordered_map<Address, u64> loaders = loader_bytes(runtime, natives);

  ContextGroups groups;
  std::map<std::string, u64> unknown;
  u64 without = 0, nobodys = 0;
  bool has_runtimes = false;
  for (u64 i = 0; i < contexts.size(); ++i) {
    const std::string &type = runtime.types().name(contexts[i].method_table);
    const std::string state = states[i].value_or("");
    if (!states[i])
      ++unknown[type];
    const Address allocator = allocators.of(contexts[i].address);
    without += is_collectible(state) && !allocator;
    std::string kept;
    if (const auto way = ways.find(allocator); way != ways.end()) {
      kept = way->second;
      has_runtimes |= kept == runtimes_own;
    } else if (std::find(told.begin(), told.end(), allocator) != told.end()) {
      kept = HoldingFields::nobody_text;
      ++nobodys;
    }
    ContextGroup &group = groups[{type, state, holders.of(contexts[i].address), kept}];
    if (group.count++ == 0)
      group.example = contexts[i].address, group.allocator = allocator;
    group.bytes += asked[i].bytes;
    if (const auto found = objects.find(allocator); found != objects.end()) {
      group.objects += found->second.count;
      group.object_bytes += found->second.bytes;
    }
    if (const auto found = loaders.find(allocators.native_of(contexts[i].address)); found != loaders.end())
      group.loader_bytes += found->second;
  }
  report::Table table = contexts_table(groups);
  if (!told.empty())
    table.notes.insert(table.notes.begin(),
                       "Objects, Bytes: objects whose types belong to the context; what keeps one of these objects, or "
                       "the context's LoaderAllocator, keeps the context from unloading; Loader heaps: memory that the "
                       "runtime reserved for the context's types and methods");
  if (has_runtimes)
    table.notes.push_back(std::string(runtimes_own) +
                          ": the runtime's own handle, which it keeps until Unload() is called");
  answer.tables.push_back(std::move(table));
  add_unknown_states(unknown, answer);
  Notes &notes = answer.completeness->notes;
  if (without)
    notes.add(count_text(without) + (without == 1 ? " collectible context has" : " collectible contexts have") +
              " no known LoaderAllocator: unloaded contexts have none, and other ones lack it if the runtime's own "
              "memory is not in the dump");
  if (nobodys)
    notes.add("no known root keeps " + count_text(nobodys) + (nobodys == 1 ? " LoaderAllocator" : " LoaderAllocators") +
              ": either a method of the context is on a stack, or the next collection frees the LoaderAllocator");
  if (told.size() == most_paths)
    notes.add("what keeps contexts from unloading is shown for " + count_text(most_paths) + " contexts only");
  if (const auto next = next_of(groups))
    answer.next_command = hex(*next);
}

} // namespace dnheap
