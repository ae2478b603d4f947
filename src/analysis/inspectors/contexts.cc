// `inspect contexts`: AssemblyLoadContexts, whether they are unloading, and what keeps them alive; and assemblies that
// were made at run time.
#include "analysis/inspectors/allocator_contents.h"
#include "analysis/inspectors/emitted_assemblies.h"
#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/context_allocators.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/resources.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

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

report::Table emitted_table(const std::vector<EmittedAssemblies> &emitted) {
  using E = EmittedAssemblies;
  auto if_known = [](u64 E::*member) { // absent if there is no LoaderAllocator
    return [member](const E &e) { return e.allocator ? Cell(e.*member) : Cell(); };
  };
  report::Table table = report::ColumnsOf<E>{
      {{"count", "Count", Kind::count}, &E::count},
      {{"name", "Name", Kind::text}, &E::name},
      {{"maker", "Made by", Kind::text}, [](const E &e) { return report::text_cell(e.maker); }},
      {{"collectible", "Collectible", Kind::boolean}, &E::is_collectible},
      {{"objects", "Objects", Kind::count}, if_known(&E::objects)},
      {{"object_bytes", "Bytes", Kind::bytes}, if_known(&E::object_bytes)},
      {{"loader_bytes", "Loader heaps", Kind::bytes},
       [](const E &e) { return e.loader_bytes ? Cell(e.loader_bytes) : Cell(); }},
      {{"allocator", "Allocator", Kind::address}, if_known(&E::allocator)},
      {{"kept_by", "Kept from being freed by", Kind::text, report::Shown::everywhere, true}, [](const E &e) {
         return report::text_cell(e.kept_by);
       }}}.table("emitted", "Assemblies made at run time", emitted);
  u64 count = 0;
  for (const E &one : emitted) {
    count += one.count;
    explain_compiled_names(one.kept_by, table.notes);
  }
  table.total = total_row(table, {{"count", count}, {"name", total_of(emitted.size(), "row")}});
  if (!emitted.empty())
    table.notes.insert(table.notes.begin(),
                       "*: numbers, in which the names differ; an assembly that is not collectible "
                       "stays until the program ends");
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
    if (const Address allocator = allocators.of(context); allocator && told.size() < most_allocator_paths)
      told.push_back(allocator);
  const std::unordered_map<Address, std::string> ways = ways_to_allocators(snapshot, told);
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
                       "runtime reserved for the context's types and methods; account --table loaders: what of it is "
                       "mapped");
  if (has_runtimes)
    table.notes.push_back(std::string(runtimes_own) +
                          ": the runtime's own handle, which it keeps until Unload() is called");
  answer.tables.push_back(std::move(table));
  answer.tables.push_back(emitted_table(find_emitted_assemblies(snapshot)));
  add_unknown_states(unknown, answer);
  Notes &notes = answer.completeness->notes;
  if (without)
    notes.add(count_text(without) + (without == 1 ? " collectible context has" : " collectible contexts have") +
              " no known LoaderAllocator: unloaded contexts have none, and other ones lack it if the runtime's own "
              "memory is not in the dump");
  if (nobodys)
    notes.add("no known root keeps " + count_text(nobodys) + (nobodys == 1 ? " LoaderAllocator" : " LoaderAllocators") +
              ": either a method of the context is on a stack, or the next collection frees the LoaderAllocator");
  if (told.size() == most_allocator_paths)
    notes.add("what keeps contexts from unloading is shown for " + count_text(most_allocator_paths) + " contexts only");
  if (const auto next = next_of(groups))
    answer.next_command = hex(*next);
}

} // namespace dnheap
