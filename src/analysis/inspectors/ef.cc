// `inspect ef`: contexts of Entity Framework Core: how many entities each one's change tracker keeps, by state, and
// whether the context was disposed; and the queries that it has compiled and caches.
#include "analysis/inspectors/cached_queries.h"
#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/dictionary_entries.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/shapes/unknown_shape.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <array>
#include <map>

namespace dnheap {

namespace {

using report::Kind;

constexpr const char *db_context = "Microsoft.EntityFrameworkCore.DbContext";
constexpr const char *state_manager = "Microsoft.EntityFrameworkCore.ChangeTracking.Internal.StateManager";
constexpr const char *entry_map = "Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap";
constexpr const char *of_entity_framework = "Microsoft.EntityFrameworkCore.";
// Types of many objects, none of which refers to a context.
constexpr const char *of_entities[] = {"Microsoft.EntityFrameworkCore.ChangeTracking.Internal.InternalEntityEntry",
                                       "Microsoft.EntityFrameworkCore.ChangeTracking.Internal.Snapshot<"};
// Fields of EntityReferenceMap for each state, in the order of the columns.
constexpr const char *state_maps[] = {"_unchangedReferenceMap", "_addedReferenceMap", "_modifiedReferenceMap",
                                      "_deletedReferenceMap"};
constexpr u32 most_shared_types = 1 << 12; // of one model

struct Tracked {
  std::array<u64, std::size(state_maps)> by_state{};
  u64 all() const { return by_state[0] + by_state[1] + by_state[2] + by_state[3]; }
  void add(const Tracked &other) {
    for (u64 i = 0; i < by_state.size(); ++i)
      by_state[i] += other.by_state[i];
  }
};
struct ContextGroup {
  u64 count = 0, most = 0;
  Tracked tracked;
  Address largest = 0;
  u64 all() const { return tracked.all(); }
};
struct ContextKey {
  std::string state, type, held_by;
  auto operator<=>(const ContextKey &) const = default;
};

class ContextReader {
public:
  explicit ContextReader(const Snapshot &snapshot) : runtime_(snapshot.runtime()), fields_(runtime_) {
    for (const TypedObject &one : objects_called(snapshot, state_manager))
      if (const Address context = fields_.reference_or_null(one.address, "<Context>k__BackingField"))
        trackers_[context] = one.address;
  }

  // Returns "in use", "disposed" or "in a pool"; nullopt if unknown.
  std::optional<std::string> state(Address context) {
    const std::optional<u8> is_disposed = fields_.number<u8>(context, "_disposed");
    if (!is_disposed)
      return std::nullopt;
    // A context that was leased from a pool went back there.
    return !*is_disposed                                             ? "in use"
           : fields_.number<u32>(context, "_leaseCount").value_or(0) ? "in a pool"
                                                                     : "disposed";
  }
  // Returns all zeros for a context that was never asked for entities.
  std::optional<Tracked> tracked(Address context) {
    const auto tracker = trackers_.find(context);
    if (tracker == trackers_.end())
      return Tracked();
    const Address map = fields_.reference_or_null(tracker->second, "_entityReferenceMap");
    std::optional<Tracked> out = map ? in_map(map) : std::nullopt;
    const std::optional<Address> shared = map ? fields_.reference(map, "_sharedTypeReferenceMap") : std::nullopt;
    if (!out || !shared)
      return std::nullopt;
    const std::optional<std::vector<Address>> maps = *shared ? values_of(*shared) : std::vector<Address>();
    if (!maps)
      return std::nullopt;
    for (Address one : *maps) {
      const std::optional<Tracked> more = in_map(one);
      if (!more)
        return std::nullopt;
      out->add(*more);
    }
    return out;
  }

private:
  std::optional<Tracked> in_map(Address map) {
    Tracked out;
    for (u64 i = 0; i < out.by_state.size(); ++i) {
      const std::optional<Address> entries = fields_.reference(map, state_maps[i]);
      if (!entries)
        return std::nullopt;
      const std::optional<u32> used = *entries ? fields_.number<u32>(*entries, "_count") : 0,
                               freed = *entries ? fields_.number<u32>(*entries, "_freeCount") : 0;
      if (!used || !freed || *freed > *used)
        return std::nullopt;
      out.by_state[i] = *used - *freed;
    }
    return out;
  }

  // Returns the maps that are values of a dictionary: those of types that several entities share, for example owned
  // ones.
  std::optional<std::vector<Address>> values_of(Address dictionary) {
    const auto entries = dictionary_entries(runtime_, fields_, dictionary, most_shared_types);
    if (!entries)
      return std::nullopt;
    std::vector<Address> out;
    for (const DictionaryEntry &entry : *entries)
      if (entry.value && runtime_.types().name(fields_.type_of(entry.value)) == entry_map)
        out.push_back(entry.value);
    return out;
  }

  const Runtime &runtime_;
  FieldReader fields_;
  std::map<Address, Address> trackers_; // by context
};

report::Table ef_table(const std::map<ContextKey, ContextGroup> &groups) {
  using G = std::pair<const ContextKey, ContextGroup>;
  const std::vector<const G *> sorted = largest_first(groups, &ContextGroup::all);
  auto in_state = [](u64 state) { return [state](const G &g) { return g.second.tracked.by_state[state]; }; };
  report::Table table = report::ColumnsOf<G>{
      {{"count", "Count", Kind::count}, [](const G &g) { return g.second.count; }},
      {{"tracked", "Tracked", Kind::count}, [](const G &g) { return g.second.all(); }},
      {{"most", "Most", Kind::count}, [](const G &g) { return g.second.most; }},
      {{"unchanged", "Unchanged", Kind::count}, in_state(0)},
      {{"added", "Added", Kind::count}, in_state(1)},
      {{"modified", "Modified", Kind::count}, in_state(2)},
      {{"deleted", "Deleted", Kind::count}, in_state(3)},
      {{"state", "State", Kind::text}, [](const G &g) { return g.first.state; }},
      {{"type", "Type", Kind::text}, [](const G &g) { return g.first.type; }},
      {{"held_by", "Held by", Kind::text}, [](const G &g) { return g.first.held_by; }},
      {{"example", "Largest", Kind::address}, [](const G &g) {
         return g.second.largest;
       }}}.table("ef", "", sorted);
  ContextGroup sum;
  for (const auto &[key, group] : groups) {
    sum.count += group.count;
    sum.tracked.add(group.tracked);
  }
  table.total = total_row(table, {{"count", sum.count},
                                  {"tracked", sum.all()},
                                  {"unchanged", sum.tracked.by_state[0]},
                                  {"added", sum.tracked.by_state[1]},
                                  {"modified", sum.tracked.by_state[2]},
                                  {"deleted", sum.tracked.by_state[3]},
                                  {"type", total_of(sorted.size(), "row")}});
  for (const G *one : first_of(sorted))
    explain_compiled_names(one->first.held_by, table.notes);
  table.notes.insert(
      table.notes.begin(),
      "Tracked: entities that change trackers keep, also those of disposed contexts; Most: entities of one context; "
      "Unchanged to Deleted: states at the context's last look for changes");
  return table;
}

report::Table queries_table(const std::vector<CachedQueries> &queries) {
  report::Table table =
      report::ColumnsOf<CachedQueries>{{{"count", "Count", Kind::count}, &CachedQueries::count},
                                       {{"query", "Compiled query", Kind::text}, &CachedQueries::query},
                                       {{"example", "Example", Kind::address}, &CachedQueries::example}}
          .table("queries", "Compiled queries in the cache", queries);
  table.notes.push_back("Count: entries of the cache, which differ in nothing but constants and how their results are "
                        "tracked; constants are written as their types");
  return table;
}

// Returns objects that belong to contexts and may refer to them.
std::vector<Address> parts_of_contexts(const Snapshot &snapshot) {
  return addresses_of(objects_that(snapshot, [&](Address mt) {
    const std::string &name = snapshot.runtime().types().name(mt);
    return name.starts_with(of_entity_framework) && name != of_entities[0] && !name.starts_with(of_entities[1]);
  }));
}

} // namespace

void inspect_ef(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  const Runtime &runtime = snapshot.runtime();
  const BaseTypes bases(runtime);
  ContextReader reader(snapshot);
  const std::vector<TypedObject> objects =
      objects_that(snapshot, [&](Address mt) { return bases.derives(mt, db_context); });
  HeldBy holders(snapshot, worth_the_same(objects), parts_of_contexts(snapshot));
  std::map<ContextKey, ContextGroup> groups;
  u64 unknown = 0;
  for (const TypedObject &object : objects) {
    const std::optional<std::string> state = reader.state(object.address);
    const std::optional<Tracked> tracked = reader.tracked(object.address);
    if (!state || !tracked) {
      ++unknown;
      continue;
    }
    ContextGroup &group = groups[{*state, runtime.types().name(object.method_table), holders.of(object.address)}];
    ++group.count;
    group.tracked.add(*tracked);
    if (!group.largest || tracked->all() > group.most) {
      group.most = tracked->all();
      group.largest = object.address;
    }
  }
  answer.tables.push_back(ef_table(groups));
  if (unknown)
    answer.completeness->notes.add(unknown_shape_note(unknown, db_context, "such a context"));
  u64 unknown_queries = 0;
  answer.tables.push_back(queries_table(find_cached_queries(snapshot, unknown_queries)));
  if (snapshot.target().has_blanked_values())
    answer.completeness->notes.add(Subject::dump, Effect::none,
                                   "cached queries are not listed: the names in them are strings, and this core was "
                                   "extracted with --no-values");
  if (unknown_queries)
    answer.completeness->notes.add(unknown_shape_note(unknown_queries, "CompiledQueryCacheKey", "such a query"));
  const auto most = std::max_element(groups.begin(), groups.end(),
                                     [](const auto &a, const auto &b) { return a.second.most < b.second.most; });
  if (most != groups.end())
    answer.next_command = hex(most->second.largest);
}

} // namespace dnheap
