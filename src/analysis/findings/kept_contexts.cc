// AssemblyLoadContexts that are unloading but cannot finish, however few bytes their objects have.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/allocator_contents.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/context_allocators.h"
#include "analysis/shapes/resources.h"
#include "analysis/shapes/typed_objects.h"
#include "base/most_frequent.h"
#include "base/text.h"
#include "objects/roots.h"

#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

constexpr u64 least_unloading = 10; // some may just be unloading, while a method of theirs still runs

bool is_load_context(const BaseTypes &bases, Address type) {
  return bases.derives(type, "System.Runtime.Loader.AssemblyLoadContext");
}

std::vector<Address> unloading_contexts(const Snapshot &snapshot, const BaseTypes &bases) {
  FieldReader fields(snapshot.runtime());
  std::vector<Address> out;
  for (const TypedObject &one : objects_that(snapshot, [&](Address type) { return is_load_context(bases, type); }))
    if (context_state(fields, snapshot.runtime(), one.address) == "collectible, unloading")
      out.push_back(one.address);
  return out;
}

// True if the object is only on its way out, or a word on a stack looks like its address.
bool is_passing(const std::string &way) {
  return way.starts_with(name_of(RootKind::finalizer)) || way.starts_with(name_of(RootKind::stack_conservative));
}

// "static Shop.Host.running" for "static Shop.Host.running._items[*](its assembly's LoaderAllocator)".
std::string keeper_in_words(std::string way) {
  constexpr std::string_view inner[] = {"(its assembly's LoaderAllocator)", "[*]", "._items"};
  for (const std::string_view part : inner)
    if (way.ends_with(part))
      way.resize(way.size() - part.size());
  return variable_in_words(way);
}

} // namespace

void find_kept_contexts(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const BaseTypes bases(snapshot.runtime());
  if (snapshot.target().has_blanked_values() ||
      count_that(snapshot, [&](Address type) { return is_load_context(bases, type); }) < least_unloading)
    return;
  const std::vector<Address> contexts = unloading_contexts(snapshot, bases);
  if (contexts.size() < least_unloading)
    return;
  const ContextAllocators by_context(snapshot, contexts);
  std::vector<Address> allocators;
  for (const Address context : contexts)
    if (const Address allocator = by_context.of(context); allocator && allocators.size() < most_allocator_paths)
      allocators.push_back(allocator);
  std::map<std::string, u64> ways;
  Address example = 0;
  u64 kept = 0;
  const std::unordered_map<Address, std::string> way_of = ways_to_allocators(snapshot, allocators);
  for (const auto &[allocator, way] : way_of)
    if (!is_passing(way))
      ++ways[way], ++kept;
  if (kept < least_unloading)
    return;
  const auto most = most_frequent(ways);
  for (const Address allocator : allocators)
    if (const auto way = way_of.find(allocator); !example && way != way_of.end() && way->second == most->first)
      example = allocator;
  out.push_back({.kind = "contexts_cannot_unload",
                 .harm = Harm::resource,
                 .text = fmt::format("{} AssemblyLoadContexts are unloading, but cannot finish: {} keeps {}. Remove "
                                     "the objects of a context there when it unloads.",
                                     count_text(kept), keeper_in_words(most->first),
                                     most->second == kept ? "objects of all of them"
                                                          : "objects of " + count_text(most->second) + " of them"),
                 .count = kept,
                 .example = example,
                 .verb = "inspect contexts"});
}

} // namespace dnheap
