// `inspect finalizers`: objects in the finalizer queue, whose finalizer has not yet run, by type.
#include "analysis/inspectors/inspector.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/verdict/hangs.h"
#include "base/text.h"
#include "objects/references.h"
#include "objects/roots.h"
#include "report/columns_of.h"
#include "snapshot/snapshot.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

using report::Kind;

struct DueType {
  u64 count = 0, bytes = 0;
  Address example = 0;
};

} // namespace

void inspect_finalizers(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  ReferenceReader reader(snapshot.references());
  std::map<std::string, DueType> types;
  DueType sum;
  for (const Root &root : snapshot.roots().roots) {
    OpenedObject object;
    if (root.kind != RootKind::finalizer || !reader.open(root.object, object))
      continue;
    const u64 bytes = align_up(object.size, u64{snapshot.references().format().pointer_size});
    DueType &type = types[snapshot.runtime().types().name(object.type->method_table)];
    if (type.count++ == 0)
      type.example = root.object;
    type.bytes += bytes;
    ++sum.count;
    sum.bytes += bytes;
  }
  const auto sorted = largest_first(types, &DueType::count);
  using T = decltype(types)::value_type; // name and sum
  report::Table table = report::ColumnsOf<T>{
      {{"count", "Count", Kind::count}, [](const T &t) { return t.second.count; }},
      {{"bytes", "Bytes", Kind::bytes}, [](const T &t) { return t.second.bytes; }},
      {{"type", "Type", Kind::text}, &T::first},
      {{"example", "Example", Kind::address}, [](const T &t) {
         return t.second.example;
       }}}.table("finalizers", "", sorted);
  table.total =
      total_row(table, {{"count", sum.count}, {"bytes", sum.bytes}, {"type", total_of(sorted.size(), "type")}});
  if (sum.count) {
    table.notes.push_back("Bytes: of the objects themselves; dnheap retained shows what they hold");
    Notes of_threads;
    if (const std::string place = find_finalizer_place(snapshot, of_threads); !place.empty())
      answer.lead = "The finalizer thread " + place + ".";
    answer.completeness->notes.add_all(of_threads.up_to(Effect::none));
  }
  answer.tables.push_back(std::move(table));
  answer.completeness->notes.add_all(snapshot.roots().notes);
  if (!sorted.empty())
    answer.next_command = hex(sorted.front()->second.example);
}

} // namespace dnheap
