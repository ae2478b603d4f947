// `inspect finalizers`: objects in the finalizer queue, whose finalizer has not yet run, by type; and those that are
// registered for it, and alive when the GC last looked.
#include "analysis/inspectors/inspector.h"
#include "analysis/inspectors/registered_objects.h"
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

struct RegisteredType : DueType {
  u64 gen0 = 0, gen1 = 0, gen2 = 0, loh = 0; // numbers of objects
};

u64 RegisteredType::*count_of(std::string_view part) {
  return part == "gen0"   ? &RegisteredType::gen0
         : part == "gen1" ? &RegisteredType::gen1
         : part == "gen2" ? &RegisteredType::gen2
                          : &RegisteredType::loh;
}

report::Table registered_table(const Snapshot &snapshot, Notes &notes) {
  ReferenceReader reader(snapshot.references());
  std::map<std::string, RegisteredType> types;
  RegisteredType sum;
  each_registered_object(snapshot, notes, [&](Address address, const GCFinalizeQueuePart &part) {
    OpenedObject object;
    if (!reader.open(address, object))
      return;
    const u64 bytes = align_up(object.size, u64{snapshot.references().format().pointer_size});
    RegisteredType &type = types[snapshot.runtime().types().name(object.type->method_table)];
    if (type.count == 0)
      type.example = address;
    for (RegisteredType *to : {&type, &sum}) {
      ++to->count;
      to->bytes += bytes;
      ++(to->*count_of(part.name));
    }
  });
  const auto sorted = largest_first(types, &RegisteredType::count);
  using T = decltype(types)::value_type;
  const auto number = [](u64 RegisteredType::*member) { return [member](const T &t) { return t.second.*member; }; };
  report::Table table = report::ColumnsOf<T>{
      {{"count", "Count", Kind::count}, number(&RegisteredType::count)},
      {{"bytes", "Bytes", Kind::bytes}, number(&RegisteredType::bytes)},
      {{"gen0", "Gen 0", Kind::count}, number(&RegisteredType::gen0)},
      {{"gen1", "Gen 1", Kind::count}, number(&RegisteredType::gen1)},
      {{"gen2", "Gen 2", Kind::count}, number(&RegisteredType::gen2)},
      {{"loh", "LOH", Kind::count}, number(&RegisteredType::loh)},
      {{"type", "Type", Kind::text}, &T::first},
      {{"example", "Example", Kind::address}, [](const T &t) {
         return t.second.example;
       }}}.table("registered", "Registered for finalization", sorted);
  table.total = total_row(table, {{"count", sum.count},
                                  {"bytes", sum.bytes},
                                  {"gen0", sum.gen0},
                                  {"gen1", sum.gen1},
                                  {"gen2", sum.gen2},
                                  {"loh", sum.loh},
                                  {"type", total_of(sorted.size(), "type")}});
  if (sum.count)
    table.notes.push_back(
        "they were alive when the GC last looked; when they die, they and what they refer to stay until "
        "their finalizer has run, unless GC.SuppressFinalize was called");
  return table;
}

} // namespace

void inspect_finalizers(const Snapshot &snapshot, const Question &question, report::Answer &answer) {
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
  if (!question.subject.empty()) // the index of all inspectors counts the first table alone
    answer.tables.push_back(registered_table(snapshot, answer.completeness->notes));
  answer.completeness->notes.add_all(snapshot.roots().notes);
  if (!sorted.empty())
    answer.next_command = hex(sorted.front()->second.example);
}

} // namespace dnheap
