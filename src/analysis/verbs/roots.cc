// `roots`: what keeps objects alive? Sums by kind, the largest groups, and one row per root.
#include "objects/roots.h"

#include "analysis/answer_head.h"
#include "analysis/filters/kind_filter.h"
#include "analysis/filters/type_filter.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "report/columns_of.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <map>
#include <memory>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

// The data of all tables; the one that streams shares them.
struct Found {
  RootSet set;
  std::vector<Address> types; // by root; 0: no object at that address
};

Cell thread_cell(const RootThread *thread) {
  return thread && thread->os_id && *thread->os_id ? Cell(*thread->os_id) : Cell();
}

// Sums up by kind, in the order of the roots.
report::Table kinds_table(const Found &found, const ObjectIndex &index) {
  struct Sum {
    std::string kind;
    u64 roots = 0, outside = 0;
    std::vector<Address> objects = {}; // each once
    void keep_each_once() {
      std::sort(objects.begin(), objects.end());
      objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
    }
  };
  std::vector<Sum> sums;
  Sum all{"total"};
  for (const Root &root : found.set.roots) {
    if (sums.empty() || sums.back().kind != kind_text(root))
      sums.push_back({kind_text(root)});
    for (Sum *sum : {&sums.back(), &all}) {
      ++sum->roots;
      sum->outside += !index.is_object(root.object);
      sum->objects.push_back(root.object);
    }
  }
  for (Sum &sum : sums)
    sum.keep_each_once();
  all.keep_each_once();
  const report::ColumnsOf<Sum> columns = {
      {{"kind", "Kind", Kind::text}, &Sum::kind},
      {{"roots", "Roots", Kind::count}, &Sum::roots},
      {{"objects", "Objects", Kind::count}, [](const Sum &sum) { return u64{sum.objects.size()}; }},
      {{"outside", "Outside the heap", Kind::count, report::Shown::in_data}, &Sum::outside}};
  report::Table table = columns.table("kinds", "", sums);
  table.total = columns.row(all);
  if (all.outside)
    table.notes.push_back(count_text(all.outside) + (all.outside == 1 ? " root leads" : " roots lead") +
                          " to no object in the heap");
  return table;
}

report::Table groups_table(const Found &found, TypeSystem &types) {
  std::map<Address, Address> type_of; // by object; for handles
  for (u64 i = 0; i < found.set.roots.size(); ++i)
    if (found.set.roots[i].kind == RootKind::handle)
      type_of.emplace(found.set.roots[i].object, found.types[i]);
  RootOwners owners = group_roots(
      found.set, [&](Address object) { return type_of[object]; },
      [&](u64 type) { return type ? types.name(type) : std::string("outside the heap"); });
  std::vector<u64> counts(owners.owners.size());
  for (u32 owner : owners.owner_of)
    ++counts[owner];
  std::vector<u64> order(counts.size());
  for (u64 i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](u64 a, u64 b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : owners.owners[a].name < owners.owners[b].name;
  });
  report::Table table;
  table.name = "groups";
  table.columns = {{"group", "Group", Kind::text}, {"roots", "Roots", Kind::count}};
  std::vector<report::Row> rows;
  for (u64 i : order)
    rows.push_back({owners.owners[i].name, counts[i]});
  table.set_rows(std::move(rows));
  return table;
}

report::Table roots_table(std::shared_ptr<const Found> found, TypeSystem &types) {
  report::Table table;
  table.name = "roots";
  table.columns = {{"kind", "Kind", Kind::text},
                   {"address", "Address", Kind::address},
                   {"object", "Object", Kind::address},
                   {"type", "Type", Kind::text},
                   {"name", "Name", Kind::text},
                   {"thread", "Thread", Kind::number},
                   {"interior", "Interior", Kind::boolean, report::Shown::in_data},
                   {"pinned", "Pinned", Kind::boolean, report::Shown::in_data}};
  table.row_count = found->set.roots.size();
  table.rows = [found, &types, next = u64{0}](report::Row &row) mutable {
    if (next == found->set.roots.size())
      return false;
    const Root &root = found->set.roots[next];
    const Address type = found->types[next++];
    row[0] = kind_text(root);
    if (root.slot)
      row[1] = root.slot;
    row[2] = root.object;
    if (type)
      row[3] = Cell::borrowed(types.name(type));
    if (root.name)
      row[4] = found->set.name(root);
    row[5] = thread_cell(found->set.thread(root));
    row[6] = root.interior;
    row[7] = root.pinned;
    return true;
  };
  return table;
}

KindFilter kinds_asked_of_roots(const Question &question) {
  std::vector<std::string> names;
  for (u8 kind = 0; kind < root_kind_count; ++kind)
    if (static_cast<RootKind>(kind) != RootKind::handle)
      names.emplace_back(name_of(static_cast<RootKind>(kind)));
  for (u8 type = 0; type < handle_type_count; ++type)
    names.push_back(name_of(RootKind::handle) + std::string(":") + name_of(static_cast<HandleType>(type)));
  const std::vector<std::string_view> views(names.begin(), names.end());
  return {question, views};
}

// Keeps only the roots that pass, for all tables.
template <class Passes> void keep(Found &found, Passes passes) {
  u64 kept = 0;
  for (u64 i = 0; i < found.types.size(); ++i)
    if (passes(found.set.roots[i], found.types[i])) {
      found.set.roots[kept] = found.set.roots[i];
      found.types[kept++] = found.types[i];
    }
  found.set.roots.resize(kept);
  found.types.resize(kept);
}

} // namespace

report::Answer answer_roots(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "roots");
  const Runtime &runtime = snapshot.runtime();
  const ObjectIndex &index = snapshot.index();
  auto found = std::make_shared<Found>();
  found->set = snapshot.roots();
  for (const Root &root : found->set.roots)
    found->types.push_back(index.is_object(root.object) ? method_table_of(runtime.memory(), root.object) : 0);
  TypeSystem &types = runtime.types();
  for (Address type : found->types) // so that reasons for missing names are known below
    if (type)
      types.name(type);
  const TypeFilter filter(snapshot, question);
  if (!filter.everything())
    keep(*found, [&](const Root &, Address type) { return type && filter.passes(types.name(type)); });
  if (const KindFilter kinds = kinds_asked_of_roots(question); !kinds.everything())
    keep(*found, [&](const Root &root, Address) { return kinds.passes(kind_text(root)); });
  answer.tables = {kinds_table(*found, index), groups_table(*found, types), roots_table(found, types)};
  filter.add_notes(answer);
  add_root_notes(snapshot, answer);
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap handles " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
