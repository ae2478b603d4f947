// `inspect asynclocals`: values of AsyncLocals that ExecutionContexts carry, and what captured the contexts.
#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/captured_values.h"
#include "analysis/shapes/unknown_shape.h"
#include "report/columns_of.h"

namespace dnheap {

namespace {

using report::Kind;

report::Table async_locals_table(const std::vector<CapturedValues> &groups) {
  using C = CapturedValues;
  report::Table table = report::ColumnsOf<C>{
      {{"count", "Contexts", Kind::count}, &C::contexts},
      {{"values", "Values", Kind::count}, &C::values},
      {{"bytes", "Bytes", Kind::bytes}, &C::bytes},
      {{"kept", "Kept", Kind::count}, [](const C &c) { return u64{c.kept.size()}; }},
      {{"value_type", "Value", Kind::text}, [](const C &c) { return report::text_cell(c.value_type); }},
      {{"local", "AsyncLocal", Kind::text}, &C::local},
      {{"local_type", "", Kind::text, report::Shown::in_data}, &C::local_type},
      {{"captured", "", Kind::count, report::Shown::in_data}, [](const C &c) { return c.captor.contexts; }},
      {{"held_by", "Captured by", Kind::text}, [](const C &c) { return c.captor.field; }},
      {{"calls", "Which calls", Kind::text}, [](const C &c) { return report::text_cell(c.captor.calls); }},
      {{"example", "Example", Kind::address},
       &C::example}}.table("asynclocals", "", groups);
  for (const C &one : groups)
    for (const std::string &name : {one.local, one.captor.field, one.captor.calls})
      explain_compiled_names(name, table.notes);
  return table;
}

} // namespace

void inspect_async_locals(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  const FoundCaptures found = find_captured_values(snapshot);
  answer.tables.push_back(async_locals_table(found.groups));
  if (!found.groups.empty()) {
    std::vector<std::string> &notes = answer.tables.back().notes;
    notes.insert(
        notes.begin(),
        {"Contexts: ExecutionContexts that are alive and carry such a value; Captured by: the field that holds "
         "most of them",
         "Bytes: of the values themselves; Kept: values that nothing but a context holds, and no call in flight "
         "carries"});
    answer.next_command = hex(found.groups.front().example);
  }
  if (found.unknown)
    answer.completeness->notes.add(unknown_shape_note(found.unknown, execution_context, "it"));
  if (found.is_cut)
    answer.completeness->notes.add("the ExecutionContexts carry more values than were looked at; there are more");
}

} // namespace dnheap
