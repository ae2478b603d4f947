// `waste`: bytes that are stored for nothing, by kind, type and the field that holds them.
#include "analysis/waste/waste.h"

#include "analysis/answer_head.h"
#include "analysis/filters/live_filter.h"
#include "analysis/verbs/verbs.h"
#include "base/share.h"
#include "base/text.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

report::Table waste_table(const Waste &waste, const Question &question) {
  report::Table table;
  table.name = "waste";
  table.columns = {{"bytes", "Bytes", Kind::bytes}, {"share", "Share", Kind::percent, Shown::in_text},
                   {"count", "Count", Kind::count}, {"kind", "Kind", Kind::text},
                   {"what", "Type", Kind::text},    {"field", "Held by", Kind::text}};
  std::vector<report::Row> rows;
  for (const WasteRow &row : waste.rows)
    rows.push_back({row.bytes, share_of(row.bytes, waste.bytes), row.count, name_of(row.kind), row.what, row.field});
  if (question.sort == "count" || question.sort == "kind")
    report::sort_rows(rows, table.column(question.sort));
  report::Row total(table.columns.size());
  total[0] = waste.bytes;
  total.back() = total_of(rows.size(), "row");
  table.total = std::move(total);
  table.set_rows(std::move(rows));
  table.notes.push_back("bytes saved if fixed; an object is counted once, in the first kind that applies: "
                        "collection, box, duplicate, zeros");
  return table;
}

report::Table waste_kinds_table(const Waste &waste) {
  report::Table table;
  table.name = "kinds";
  table.title = "By kind";
  table.whole = true;
  table.columns = {{"bytes", "Bytes", Kind::bytes}, {"count", "Count", Kind::count}, {"kind", "Kind", Kind::text}};
  std::map<WasteKind, std::pair<u64, u64>> sums;
  for (const WasteRow &row : waste.rows) {
    sums[row.kind].first += row.bytes;
    sums[row.kind].second += row.count;
  }
  std::vector<report::Row> rows;
  for (const auto &[kind, sum] : sums)
    rows.push_back({sum.first, sum.second, name_of(kind)});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const report::Row &a, const report::Row &b) { return report::compare(a[0], b[0]) > 0; });
  table.set_rows(std::move(rows));
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

report::Answer answer_waste(Snapshot &snapshot, const Question &question) {
  const ObjectFilter filter = filter_of(snapshot, question);
  report::Answer answer = begin_answer(snapshot, "waste");
  const Waste waste = find_waste(snapshot, filter);
  answer.tables = {waste_table(waste, question), waste_kinds_table(waste)};
  answer.completeness->notes.add_all(waste.notes);
  if (waste.lacks_contents)
    set_incomplete(answer);
  add_name_notes(snapshot, answer);
  add_live_notes(snapshot, question, answer);
  if (std::any_of(waste.rows.begin(), waste.rows.end(),
                  [](const WasteRow &row) { return row.kind == WasteKind::duplicate_strings; }))
    answer.next_command = "dnheap strings " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
