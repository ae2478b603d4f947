// `inspect di`: scopes of Microsoft.Extensions.DependencyInjection's service providers: how many services each keeps,
// and how many objects it will dispose, by type.
#include "analysis/inspectors/service_scopes.h"

#include "analysis/inspectors/inspector.h"
#include "analysis/inspectors/kept_disposables.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/shapes/unknown_shape.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>

namespace dnheap {

namespace {

using report::Kind;

struct FoundScope {
  const char *kind = ""; // root, scope
  bool is_disposed = false;
  u64 services = 0, disposables = 0;
};
std::optional<FoundScope> read_scope(FieldReader &fields, Address scope) {
  const std::optional<u8> is_disposed = fields.number<u8>(scope, "_disposed"),
                          is_root = fields.number<u8>(scope, "<IsRootScope>k__BackingField");
  const std::optional<Address> disposables = fields.reference(scope, "_disposables");
  const Address services = fields.reference_or_null(scope, "<ResolvedServices>k__BackingField");
  if (!is_disposed || !is_root || !disposables || !services)
    return std::nullopt;
  const std::optional<u32> used = fields.number<u32>(services, "_count"),
                           freed = fields.number<u32>(services, "_freeCount"),
                           kept = *disposables ? fields.number<u32>(*disposables, "_size") : 0;
  if (!used || !freed || !kept || *freed > *used)
    return std::nullopt;
  return FoundScope{*is_root ? "root" : "scope", *is_disposed != 0, *used - *freed, *kept};
}

report::Table scopes_table(const ScopeGroups &groups) {
  using G = std::pair<const ScopeKey, ScopeGroup>;
  const std::vector<const G *> sorted = largest_first(groups, &ScopeGroup::disposables);
  report::Table table = report::ColumnsOf<G>{
      {{"count", "Count", Kind::count}, [](const G &g) { return g.second.count; }},
      {{"services", "Services", Kind::count}, [](const G &g) { return g.second.services; }},
      {{"disposables", "Disposables", Kind::count}, [](const G &g) { return g.second.disposables; }},
      {{"most", "Most", Kind::count}, [](const G &g) { return g.second.most; }},
      {{"kind", "Kind", Kind::text}, [](const G &g) { return g.first.kind; }},
      {{"state", "State", Kind::text}, [](const G &g) { return g.first.state; }},
      {{"held_by", "Held by", Kind::text}, [](const G &g) { return g.first.held_by; }},
      {{"example", "Largest", Kind::address}, [](const G &g) {
         return g.second.largest;
       }}}.table("di", "", sorted);
  ScopeGroup sum;
  for (const auto &[key, group] : groups) {
    sum.count += group.count;
    sum.services += group.services;
    sum.disposables += group.disposables;
  }
  table.total = total_row(table, {{"count", sum.count},
                                  {"services", sum.services},
                                  {"disposables", sum.disposables},
                                  {"held_by", total_of(sorted.size(), "row")}});
  for (const G *one : first_of(sorted))
    explain_compiled_names(one->first.held_by, table.notes);
  table.notes.insert(table.notes.begin(),
                     "Disposables: objects that a scope keeps until it is disposed, also those that nobody else uses; "
                     "Most: of one scope; singletons that are not disposable are kept elsewhere and not counted");
  return table;
}

report::Table disposables_table(const std::vector<KeptDisposables> &kept) {
  using K = KeptDisposables;
  report::Table table = report::ColumnsOf<K>{
      {{"count", "Count", Kind::count}, &K::count},
      {{"bytes", "Bytes", Kind::bytes}, &K::bytes},
      {{"type", "Type", Kind::text}, &K::type},
      {{"kind", "Kind", Kind::text}, &K::kind},
      {{"scopes", "Scopes", Kind::count}, &K::scopes},
      {{"most", "Most", Kind::count}, &K::most},
      {{"example", "Largest", Kind::address},
       &K::largest}}.table("disposables", "Objects that scopes keep to dispose", kept);
  u64 count = 0, bytes = 0;
  for (const K &one : kept)
    count += one.count, bytes += one.bytes;
  table.total = total_row(table, {{"count", count}, {"bytes", bytes}, {"type", total_of(kept.size(), "row")}});
  table.notes.push_back("root: the root scope keeps them until the program ends; Bytes: the objects' own; Largest: the "
                        "scope that keeps most of them");
  return table;
}

} // namespace

ScopeGroups find_service_scopes(const Snapshot &snapshot, u64 &unknown) {
  const Runtime &runtime = snapshot.runtime();
  FieldReader fields(runtime);
  const std::vector<TypedObject> objects = objects_called(snapshot, service_scope);
  HeldBy holders(snapshot, worth_the_same(objects));
  ScopeGroups groups;
  for (const TypedObject &object : objects) {
    const std::optional<FoundScope> scope = read_scope(fields, object.address);
    if (!scope) {
      ++unknown;
      continue;
    }
    ScopeGroup &group = groups[{scope->kind, scope->is_disposed ? "disposed" : "in use", holders.of(object.address)}];
    ++group.count;
    group.services += scope->services;
    group.disposables += scope->disposables;
    if (!group.largest || scope->disposables > group.most) {
      group.most = scope->disposables;
      group.largest = object.address;
    }
  }
  return groups;
}

std::map<Address, u64> disposables_by_type(const Snapshot &snapshot, Address scope) {
  constexpr u64 most_looked_at = 1 << 20;
  FieldReader fields(snapshot.runtime());
  std::map<Address, u64> out;
  const Address list = fields.reference_or_null(scope, "_disposables");
  for (Address object : fields.elements(fields.reference_or_null(list, "_items"), most_looked_at))
    if (object && snapshot.index().is_object(object))
      ++out[fields.type_of(object)];
  return out;
}

void inspect_di(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  u64 unknown = 0;
  const ScopeGroups groups = find_service_scopes(snapshot, unknown);
  answer.tables.push_back(scopes_table(groups));
  answer.tables.push_back(disposables_table(find_kept_disposables(snapshot)));
  if (unknown)
    answer.completeness->notes.add(unknown_shape_note(unknown, service_scope, "such a scope"));
  const auto most = std::max_element(groups.begin(), groups.end(), [](const auto &a, const auto &b) {
    return a.second.disposables < b.second.disposables;
  });
  if (most != groups.end())
    answer.next_command = hex(most->second.largest);
}

} // namespace dnheap
