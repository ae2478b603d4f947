#include "analysis/shapes/resources.h"

#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/process_clock.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

struct ResourceGroup {
  u64 count = 0, bytes = 0;
  u64 first_start = 0; // of the oldest, on the clock of ticks; 0: unknown
  Address example = 0;
};
using ResourceKey = std::tuple<std::string, std::string, std::string>; // type, state, field
using ResourceGroups = std::map<ResourceKey, ResourceGroup>;

// `clock`: null: the table has no ages.
report::Table resources_table(const char *name, const ResourceGroups &groups, const ProcessClock *clock) {
  constexpr ProcessClock::Clock ticks = ProcessClock::Clock::ticks;
  using G = ResourceGroups::value_type;
  const std::vector<const G *> sorted = largest_first(groups, &ResourceGroup::count);
  auto age = [&](const G &g) { return clock->since(ticks, g.second.first_start); };
  report::ColumnsOf<G> columns = {
      {{"count", "Count", Kind::count}, [](const G &g) { return g.second.count; }},
      {{"bytes", "Bytes", Kind::bytes}, [](const G &g) { return g.second.bytes; }},
      {{"state", "State", Kind::text}, [](const G &g) { return report::text_cell(std::get<1>(g.first)); }}};
  if (clock) {
    columns.add({{"age_ms_most", "", Kind::number, Shown::in_data}, [&](const G &g) { return Cell(age(g)); }});
    columns.add({{"age", "Age", Kind::text, Shown::in_text},
                 [&](const G &g) { return age(g) ? Cell(age_text(*age(g), false)) : Cell(); }});
  }
  columns.add({{"type", "Type", Kind::text}, [](const G &g) { return std::get<0>(g.first); }});
  columns.add({{"held_by", "Held by", Kind::text}, [](const G &g) { return std::get<2>(g.first); }});
  columns.add({{"example", "Example", Kind::address}, [](const G &g) { return g.second.example; }});
  report::Table table = columns.table(name, "", sorted);
  ResourceGroup sum;
  for (const auto &[key, group] : groups)
    sum.count += group.count, sum.bytes += group.bytes;
  table.total =
      total_row(table, {{"count", sum.count}, {"bytes", sum.bytes}, {"type", total_of(sorted.size(), "row")}});
  for (const G *one : first_of(sorted))
    explain_compiled_names(std::get<2>(one->first), table.notes);
  if (clock && std::ranges::any_of(sorted, [&](const G *one) { return age(*one).has_value(); }))
    table.notes.insert(table.notes.begin(), "Age: of the oldest, since it was made, " + clock->note(ticks));
  return table;
}

// Maps each type to its ResourceKind.
std::map<Address, const ResourceKind *> types_of(const Snapshot &snapshot, std::span<const ResourceKind> kinds) {
  const BaseTypes bases(snapshot.runtime());
  std::map<Address, const ResourceKind *> out;
  types_that(snapshot, [&](Address mt) {
    for (const ResourceKind &kind : kinds)
      if (bases.derives(mt, kind.base)) {
        out.emplace(mt, &kind);
        return true;
      }
    return false;
  });
  return out;
}

bool have_ages(std::span<const ResourceKind> kinds) {
  return std::ranges::any_of(kinds, [](const ResourceKind &kind) { return kind.start != nullptr; });
}

void add_start(u64 start, ProcessClock &clock, ResourceGroup &to) {
  clock.saw(ProcessClock::Clock::ticks, start); // the newest one may be the newest time in the heap
  if (start && (!to.first_start || start < to.first_start))
    to.first_start = start;
}

// Sums up all objects of these types. Counts those whose state is unknown by type. `clock`: null: no type has a start.
ResourceGroups groups_of(const Snapshot &snapshot, const std::map<Address, const ResourceKind *> &types,
                         ProcessClock *clock, std::map<std::string, u64> &unknown) {
  const Runtime &runtime = snapshot.runtime();
  std::vector<Address> wanted;
  for (const auto &[mt, kind] : types)
    wanted.push_back(mt);
  const std::vector<TypedObject> objects = objects_of(snapshot, wanted);
  FieldReader fields(runtime);
  const std::vector<HeldObject> asked = worth_their_size(snapshot, objects);
  HeldBy holders(snapshot, asked);
  ResourceGroups groups;
  for (u64 i = 0; i < objects.size(); ++i) {
    if (i % 1024 == 0)
      snapshot.watch().check();
    const TypedObject &object = objects[i];
    const ResourceKind &kind = *types.at(object.method_table);
    const std::string &type = runtime.types().name(object.method_table);
    const std::optional<std::string> state = kind.state ? kind.state(fields, runtime, object.address) : "";
    if (!state)
      ++unknown[type];
    ResourceGroup &group = groups[{type, state.value_or(""), holders.of(object.address)}];
    if (group.count++ == 0)
      group.example = object.address;
    group.bytes += asked[i].bytes;
    if (kind.start)
      add_start(kind.start(fields, object.address), *clock, group);
  }
  return groups;
}

} // namespace

void add_unknown_states(const std::map<std::string, u64> &unknown, report::Answer &answer) {
  u64 told = 0;
  for (const auto &[type, count] : unknown) {
    if (told++ == 5) {
      answer.completeness->notes.add("and " + count_text(unknown.size() - 5) + " more such types");
      break;
    }
    answer.completeness->notes.add(type + " does not have the fields for the state of such an object: the state of " +
                                   count_text(count) + (count == 1 ? " object is unknown" : " objects is unknown"));
  }
}

std::optional<std::string> disposed_state(FieldReader &fields, const Runtime &, Address object) {
  const InstanceField *field = fields.find(fields.type_of(object), "_disposed");
  if (!field || field->is_reference() || !field->size)
    return std::nullopt;
  std::optional<u32> value;
  if (*field->size == 1) {
    if (std::optional<u8> byte = fields.number<u8>(object, "_disposed"))
      value = *byte;
  } else if (*field->size == 4) {
    value = fields.number<u32>(object, "_disposed");
  }
  return value ? std::optional<std::string>(*value ? "disposed" : "in use") : std::nullopt;
}

void add_resources(const Snapshot &snapshot, const char *table, std::span<const ResourceKind> kinds,
                   report::Answer &answer) {
  std::optional<ProcessClock> clock;
  if (have_ages(kinds))
    clock.emplace(snapshot);
  std::map<std::string, u64> unknown;
  const ResourceGroups groups = groups_of(snapshot, types_of(snapshot, kinds), clock ? &*clock : nullptr, unknown);
  answer.tables.push_back(resources_table(table, groups, clock ? &*clock : nullptr));
  add_unknown_states(unknown, answer);
  const auto most = std::max_element(groups.begin(), groups.end(),
                                     [](const auto &a, const auto &b) { return a.second.count < b.second.count; });
  if (most != groups.end())
    answer.next_command = hex(most->second.example);
}

} // namespace dnheap
