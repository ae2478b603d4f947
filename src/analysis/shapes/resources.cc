#include "analysis/shapes/resources.h"

#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

struct ResourceGroup {
  u64 count = 0, bytes = 0;
  Address example = 0;
};
using ResourceKey = std::tuple<std::string, std::string, std::string>; // type, state, field
using ResourceGroups = std::map<ResourceKey, ResourceGroup>;

report::Table resources_table(const char *name, const ResourceGroups &groups) {
  report::Table table;
  table.name = name;
  table.columns = {{"count", "Count", Kind::count},    {"bytes", "Bytes", Kind::bytes},
                   {"state", "State", Kind::text},     {"type", "Type", Kind::text},
                   {"held_by", "Held by", Kind::text}, {"example", "Example", Kind::address}};
  const auto sorted = largest_first(groups, &ResourceGroup::count);
  std::vector<report::Row> rows;
  ResourceGroup sum;
  for (const auto *one : sorted) {
    const auto &[type, state, field] = one->first;
    const ResourceGroup &group = one->second;
    rows.push_back({group.count, group.bytes, report::text_cell(state), type, field, group.example});
    sum.count += group.count;
    sum.bytes += group.bytes;
    if (rows.size() <= 20)
      explain_compiled_names(field, table.notes);
  }
  report::Row total(table.columns.size());
  total[0] = sum.count;
  total[1] = sum.bytes;
  total[3] = total_of(rows.size(), "row");
  table.total = std::move(total);
  table.set_rows(std::move(rows));
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
  const Runtime &runtime = snapshot.runtime();
  const std::map<Address, const ResourceKind *> types = types_of(snapshot, kinds);
  std::vector<Address> wanted;
  for (const auto &[mt, kind] : types)
    wanted.push_back(mt);
  const std::vector<TypedObject> objects = objects_of(snapshot, wanted);
  FieldReader fields(runtime);
  const std::vector<HeldObject> asked = worth_their_size(snapshot, objects);
  HeldBy holders(snapshot, asked);
  ResourceGroups groups;
  std::map<std::string, u64> unknown;
  for (u64 i = 0; i < objects.size(); ++i) {
    if (i % 1024 == 0)
      snapshot.watch().check();
    const TypedObject &object = objects[i];
    const std::string &type = runtime.types().name(object.method_table);
    const StateFunction state_of = types.at(object.method_table)->state;
    const std::optional<std::string> state = state_of ? state_of(fields, runtime, object.address) : "";
    if (!state)
      ++unknown[type];
    ResourceGroup &group = groups[{type, state.value_or(""), holders.of(object.address)}];
    if (group.count++ == 0)
      group.example = object.address;
    group.bytes += asked[i].bytes;
  }
  answer.tables.push_back(resources_table(table, groups));
  add_unknown_states(unknown, answer);
  const auto most = std::max_element(groups.begin(), groups.end(),
                                     [](const auto &a, const auto &b) { return a.second.count < b.second.count; });
  if (most != groups.end())
    answer.next_command = hex(most->second.example);
}

} // namespace dnheap
