// `inspect`: the result of one inspector; without a name, the list of inspectors.
#include "analysis/answer_head.h"
#include "analysis/inspectors/inspector.h"
#include "analysis/shapes/holding_fields.h"
#include "analysis/verbs/verbs.h"
#include "analysis/waste/waste.h"
#include "report/columns_of.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

report::Answer list_inspectors() {
  report::Answer answer;
  answer.command = "inspect";
  answer.headline.what = "inspectors: dnheap inspect NAME TARGET asks one";
  using I = Inspector;
  report::Table table = report::ColumnsOf<I>{
      {{"name", "Name", Kind::text}, &I::name},
      {{"question", "Question", Kind::text, Shown::everywhere, true}, &I::question},
      {{"types", "", Kind::nested, Shown::in_data},
       [](const I &one) {
         std::vector<report::Cell> out;
         for (std::string_view type : one.types)
           out.push_back(std::string(type));
         return out;
       }},
      {{"types_text", "Knows", Kind::text, Shown::in_text, true}, [](const I &one) {
         return fmt::format("{}", fmt::join(one.types, ", "));
       }}}.table("inspectors", "", inspectors());
  table.whole = true;
  answer.tables.push_back(std::move(table));
  return answer;
}

// Explains "(nobody)". Events have another column, and a note of their own.
void explain_nobody(report::Answer &answer) {
  report::Table &table = answer.tables.front();
  const std::optional<u64> held_by = table.find_column("held_by");
  if (!held_by)
    return;
  const Cell nobody = std::string(HoldingFields::nobody_text);
  bool is_there = false;
  std::vector<report::Row> rows;
  for (report::Row row; table.rows(row); rows.push_back(std::move(row)))
    is_there |= report::compare(row[*held_by], nobody) == 0;
  table.rows = report::rows_of(std::move(rows));
  if (is_there)
    table.notes.push_back(
        fmt::format("{}: garbage, or objects to which only garbage refers", HoldingFields::nobody_text));
}

} // namespace

Plan plan_inspect(const Question &question) {
  const Inspector *inspector = find_inspector(question.subject);
  if (!inspector)
    return Plan();
  Plan plan(passes_of_waste); // the passes for finding holders
  plan.then(inspector->own ? inspector->own : "walk").then("holders");
  if (inspector->names_holders)
    plan.perhaps(Pass::live);
  if (inspector->finds_paths)
    plan.perhaps(Pass::graph | Pass::owned_roots).perhaps("breadth-first search");
  return plan;
}

report::Answer answer_inspect(const Snapshot &snapshot, const Question &question) {
  const Inspector *inspector = find_inspector(question.subject);
  if (!inspector)
    return list_inspectors();
  report::Answer answer = begin_answer(snapshot, "inspect");
  inspector->inspect(snapshot, question, answer);
  if (snapshot.target().has_blanked_values()) {
    answer.completeness->notes.add(Subject::dump, Effect::numbers,
                                   "this core was extracted with --no-values: the counts, states and times that "
                                   "objects have in them are zeros");
  }
  if (inspector->names_holders) {
    add_root_notes(snapshot, answer);
    explain_nobody(answer);
  }
  add_name_notes(snapshot, answer);
  if (!answer.next_command.empty()) // it is an object's address
    answer.next_command = "dnheap path " + shell_word(question.target) + " " + answer.next_command;
  return answer;
}

report::Answer answer_inspect_alone(const Question &, const Watch &) { return list_inspectors(); }

} // namespace dnheap
