// `waste`: bytes that are stored for nothing, by kind, type and the field that holds them.
#include "analysis/waste/waste.h"

#include "analysis/answer_head.h"
#include "analysis/filters/live_filter.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/verbs/verbs.h"
#include "base/share.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

using report::Kind;
using report::Shown;

report::Table waste_table(const Waste &waste, const Question &question) {
  using W = WasteRow;
  std::vector<const W *> rows;
  for (const W &row : waste.rows)
    rows.push_back(&row);
  if (question.sort == "count")
    std::ranges::stable_sort(rows, std::greater(), &W::count);
  else if (question.sort == "kind")
    std::ranges::stable_sort(rows, std::less(), [](const W *row) { return std::string_view(name_of(row->kind)); });
  report::Table table = report::ColumnsOf<W>{
      {{"bytes", "Bytes", Kind::bytes}, &W::bytes},
      {{"share", "Share", Kind::percent, Shown::in_text},
       [&](const W &row) { return share_of(row.bytes, waste.bytes); }},
      {{"count", "Count", Kind::count}, &W::count},
      {{"kind", "Kind", Kind::text}, [](const W &row) { return name_of(row.kind); }},
      {{"what", "Type", Kind::text}, &W::what},
      {{"field", "Held by", Kind::text},
       &W::field}}.table("waste", "", rows);
  table.total = total_row(table, {{"bytes", waste.bytes}, {"field", total_of(rows.size(), "row")}});
  table.notes.push_back("bytes saved if fixed; an object is counted once, in the first kind that applies: "
                        "collection, box, duplicate, zeros");
  return table;
}

report::Table waste_kinds_table(const Waste &waste) {
  struct Sum {
    u64 bytes = 0, count = 0;
  };
  std::map<WasteKind, Sum> sums;
  for (const WasteRow &row : waste.rows) {
    sums[row.kind].bytes += row.bytes;
    sums[row.kind].count += row.count;
  }
  using S = std::pair<const WasteKind, Sum>;
  report::Table table = report::ColumnsOf<S>{
      {{"bytes", "Bytes", Kind::bytes}, [](const S &s) { return s.second.bytes; }},
      {{"count", "Count", Kind::count}, [](const S &s) { return s.second.count; }},
      {{"kind", "Kind", Kind::text}, [](const S &s) {
         return name_of(s.first);
       }}}.table("kinds", "By kind", largest_first(sums, &Sum::bytes));
  table.whole = true;
  return table;
}

} // namespace

Plan plan_waste(const Question &question) {
  Plan plan(passes_of_life(question) | passes_of_waste);
  plan.then("waste").then("holders");
  if (question.life == Life::any)
    plan.then("walk");
  return plan;
}

report::Answer answer_waste(const Snapshot &snapshot, const Question &question) {
  const ObjectFilter filter = filter_of(snapshot, question);
  report::Answer answer = begin_answer(snapshot, "waste");
  const Waste waste = find_waste(snapshot, filter);
  answer.tables = {waste_table(waste, question), waste_kinds_table(waste)};
  answer.completeness->notes.add_all(waste.notes);
  add_name_notes(snapshot, answer);
  add_live_notes(snapshot, question, answer);
  if (std::any_of(waste.rows.begin(), waste.rows.end(),
                  [](const WasteRow &row) { return row.kind == WasteKind::duplicate_strings; }))
    answer.next_command = "dnheap strings " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
