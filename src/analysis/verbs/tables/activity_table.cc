#include "analysis/verbs/tables/activity_table.h"

#include "analysis/answer_head.h"
#include "analysis/verbs/tables/figures_table.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <fmt/format.h>

namespace dnheap {

using report::Cell;
using report::Kind;
using report::Shown;

report::Table activity_table(const Activities &activities) {
  using A = Activity;
  report::Table table = report::ColumnsOf<A>{
      {{"count", "", Kind::count}, &A::count},
      {{"kind", "", Kind::text}, [](const A &a) { return name_of(a.who); }},
      {{"waits_for", "", Kind::text}, [](const A &a) { return report::text_cell(a.waits_for); }},
      {{"method", "", Kind::text}, [](const A &a) { return report::text_cell(a.method); }},
      {{"calls", "", Kind::text}, [](const A &a) { return report::text_cell(a.calls); }},
      {{"source", "", Kind::text}, [](const A &a) { return report::text_cell(a.at.file); }},
      {{"line", "", Kind::number}, [](const A &a) {
         return a.at ? Cell(u64{a.at.line}) : Cell();
       }}}.table("activity", "", activities.list);
  table.shown = Shown::in_data;
  return table;
}

report::Table activity_as_text(const Activities &activities, const Question &question) {
  std::vector<report::Row> rows;
  for (const Activity &one : activities.list)
    rows.push_back({fmt::format("{:>16}", one.figures()), one.text()});
  report::Table table =
      figures_table("activity_text", "What the program does, apart from idle threads", std::move(rows));
  if (activities.others)
    table.notes.push_back(fmt::format("… {} more groups: dnheap threads {}, dnheap async {}",
                                      count_text(activities.others), shell_word(question.target),
                                      shell_word(question.target)));
  return table;
}

} // namespace dnheap
