// `handles`: which GC handles exist, of which kinds, and what do they hold? One row per handle, and sums by kind.
#include "analysis/answer_head.h"
#include "analysis/filters/kind_filter.h"
#include "analysis/filters/type_filter.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <array>
#include <memory>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

// Finds the type of the object at an address; null if there is none.
class ObjectTypes {
public:
  explicit ObjectTypes(const Snapshot &snapshot) : heap_(snapshot.heap()), runtime_(snapshot.runtime()) {}

  const std::string *find(Address object) {
    Address mt = heap_.holds(object) ? method_table_of(runtime_.memory(), object) : 0;
    return mt && runtime_.types().object_layout(mt) ? &runtime_.types().name(mt) : nullptr;
  }

private:
  const Heap &heap_;
  const Runtime &runtime_;
};

Cell text_or_absent(const std::string *text) { return text ? Cell(*text) : Cell(); }

KindFilter kinds_asked(const Question &question, const std::vector<HandleType> &supported) {
  std::vector<std::string_view> names;
  for (HandleType type : supported)
    names.push_back(name_of(type));
  return {question, names};
}

// There may be millions of handles: rows are made as they are asked for, unless all are needed for sorting.
report::Table handles_table(std::vector<HandleData> handles, const Snapshot &snapshot, const Question &question) {
  report::Table table;
  table.name = "handles";
  table.columns = {
      {"handle", "Handle", Kind::address},
      {"kind", "Kind", Kind::text},
      {"strong", "Strong", Kind::boolean, report::Shown::in_data},
      {"table", "Table", Kind::number, question.verbose ? report::Shown::everywhere : report::Shown::in_data},
      {"object", "Object", Kind::address},
      {"ref_count", "Count", Kind::number, report::Shown::in_data},
      {"secondary", "Secondary", Kind::address},
      {"type", "Type", Kind::text},
      {"secondary_type", "Type of secondary", Kind::text}};
  auto types = std::make_shared<ObjectTypes>(snapshot);
  auto row_of = [types](const HandleData &h) {
    // The second word is an object only in a dependent handle.
    bool object = h.type == HandleType::dependent && h.secondary && *h.secondary;
    return report::Row{h.handle,
                       name_of(h.type),
                       h.strong_reference,
                       h.table,
                       h.object,
                       h.ref_count,
                       h.secondary,
                       text_or_absent(types->find(h.object)),
                       object ? text_or_absent(types->find(*h.secondary)) : Cell()};
  };
  if (!question.sort.empty()) {
    std::vector<report::Row> rows;
    for (const HandleData &h : handles)
      rows.push_back(row_of(h));
    report::sort_rows(rows, table.column(question.sort));
    table.set_rows(std::move(rows));
    return table;
  }
  table.row_count = handles.size();
  table.rows = [row_of, handles = std::move(handles), next = u64{0}](report::Row &row) mutable {
    if (next == handles.size())
      return false;
    row = row_of(handles[next++]);
    return true;
  };
  return table;
}

report::Table kinds_table(std::span<const HandleType> supported, const std::vector<HandleData> &handles,
                          ObjectTypes &types) {
  struct Sum {
    const char *kind = "total";
    u64 handles = 0, strong = 0, secondaries = 0, outside = 0;
  };
  std::array<Sum, handle_type_count> sums{};
  Sum all;
  for (const HandleData &h : handles) {
    const bool is_outside = types.find(h.object) == nullptr;
    if (h.type == HandleType::dependent && h.secondary && *h.secondary)
      types.find(*h.secondary); // asks for all names before notes list the missing ones
    for (Sum *sum : {&sums[static_cast<u8>(h.type)], &all}) {
      ++sum->handles;
      sum->strong += h.strong_reference;
      sum->secondaries += h.secondary && *h.secondary;
      sum->outside += is_outside;
    }
  }
  std::vector<const Sum *> shown;
  for (HandleType type : supported) {
    Sum &sum = sums[static_cast<u8>(type)];
    sum.kind = name_of(type);
    shown.push_back(&sum);
  }
  const report::ColumnsOf<Sum> columns = {
      {{"kind", "Kind", Kind::text}, &Sum::kind},
      {{"handles", "Handles", Kind::count}, &Sum::handles},
      {{"strong", "Strong", Kind::count}, &Sum::strong},
      {{"secondaries", "Secondaries", Kind::count}, &Sum::secondaries},
      {{"outside", "Outside the heap", Kind::count, report::Shown::in_data}, &Sum::outside}};
  report::Table table = columns.table("kinds", "", shown);
  table.total = columns.row(all);
  if (all.outside)
    table.notes.push_back(count_text(all.outside) + (all.outside == 1 ? " handle leads" : " handles lead") +
                          " to no object in the heap");
  return table;
}

} // namespace

report::Answer answer_handles(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "handles", HeapSum::none);
  const Gc &gc = snapshot.runtime().gc();
  Notes problems;
  std::vector<HandleType> supported;
  std::vector<HandleData> handles;
  if (snapshot.runtime().kind() == std::string_view("corert")) {
    problems.add(Subject::handles, Effect::numbers, "CoreRT's memory format (NF16) has no data about handles");
  } else {
    supported = gc.get_supported_handle_types();
    const KindFilter kinds = kinds_asked(question, supported);
    std::erase_if(supported, [&](HandleType type) { return !kinds.passes(name_of(type)); });
    handles = gc.get_handles(supported, problems);
  }
  std::sort(handles.begin(), handles.end(), [](const HandleData &a, const HandleData &b) {
    return a.type != b.type ? a.type < b.type : a.handle < b.handle;
  });
  ObjectTypes types(snapshot);
  const TypeFilter filter(snapshot, question);
  if (!filter.everything())
    std::erase_if(handles, [&](const HandleData &h) {
      const std::string *type = types.find(h.object);
      return !type || !filter.passes(*type);
    });
  filter.add_notes(answer);
  report::Table kinds = kinds_table(supported, handles, types);
  answer.tables = {handles_table(std::move(handles), snapshot, question), std::move(kinds)};
  answer.completeness->notes.add_all(problems);
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap objects " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
