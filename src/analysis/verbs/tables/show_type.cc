#include "analysis/verbs/tables/show_type.h"

#include "analysis/answer_head.h"
#include "analysis/verbs/tables/series_table.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

report::Table for_programs(Address method_table, const std::string &name, const std::string &assembly,
                           const Tally &tally) {
  report::Table table = report::one_row("type", {{{"method_table", "", Kind::address}, method_table},
                                                 {{"type", "", Kind::text}, name},
                                                 {{"assembly", "", Kind::text}, report::text_cell(assembly)},
                                                 {{"count", "", Kind::count}, tally.count},
                                                 {{"bytes", "", Kind::bytes}, tally.bytes},
                                                 {{"aligned_bytes", "", Kind::bytes}, tally.aligned_bytes}});
  table.shown = Shown::in_data;
  return table;
}

report::Table for_people(Address method_table, const std::string &name, const std::string &assembly,
                         const Tally &tally) {
  report::Table table;
  table.name = "type";
  table.shown = Shown::in_text;
  table.whole = true;
  table.columns = {{"what", "What", Kind::text}, {"value", "Value", Kind::text, report::Shown::everywhere, true}};
  std::vector<report::Row> rows = {{"MethodTable", hex(method_table)}, {"type", name}};
  if (!assembly.empty())
    rows.push_back({"assembly", assembly});
  rows.push_back({"objects", count_text(tally.count) + " on this heap, " + bytes_text(tally.bytes)});
  table.set_rows(std::move(rows));
  table.notes.push_back("this is the address of a type's MethodTable, not of an object");
  return table;
}

} // namespace

report::Answer show_type(const Snapshot &snapshot, const Question &question, Address method_table) {
  report::Answer answer = begin_answer(snapshot, "show");
  TypeSystem &types = snapshot.runtime().types();
  Tally tally;
  for (const TypeTally &type : snapshot.tally().types)
    if (type.method_table == method_table)
      tally = type.total();
  const std::string &name = types.name(method_table);
  const std::string assembly = types.assembly(method_table);
  answer.tables = {for_programs(method_table, name, assembly, tally), for_people(method_table, name, assembly, tally),
                   series_table(snapshot.runtime(), method_table)};
  add_name_notes(snapshot, answer);
  if (tally.count)
    answer.next_command = "dnheap path " + shell_word(question.target) + " " + hex(method_table);
  return answer;
}

} // namespace dnheap
