// `inspect`: the result of one inspector; without a name, how much each of them finds; without a target, their list.
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

// What an inspector finds.
struct Found {
  const Inspector *inspector;
  std::optional<u64> rows = {}, objects = {}, bytes = {}; // absent: unknown, or it has no such column
  std::string most = {};                                  // the first row in words
};

report::Table inspectors_table(const std::vector<Found> &found, bool are_asked) {
  const Shown of_targets = are_asked ? Shown::everywhere : Shown::in_data,
              of_list = are_asked ? Shown::in_data : Shown::everywhere;
  using F = Found;
  report::ColumnsOf<F> columns = {
      {{"name", "Name", Kind::text}, [](const F &f) { return f.inspector->name; }},
      {{"rows", "Kinds", Kind::count, of_targets}, &F::rows},
      {{"objects", "Objects", Kind::count, of_targets}, &F::objects},
      {{"bytes", "Bytes", Kind::bytes, of_targets}, &F::bytes},
      {{"most", "The first of them", Kind::text, of_targets}, [](const F &f) { return report::text_cell(f.most); }},
      {{"question", "Question", Kind::text, of_list, true}, [](const F &f) { return f.inspector->question; }},
      {{"types", "", Kind::nested, Shown::in_data}, [](const F &f) {
         std::vector<report::Cell> out;
         for (std::string_view type : f.inspector->types)
           out.push_back(std::string(type));
         return out;
       }}};
  if (!are_asked)
    columns.add({{"types_text", "Knows", Kind::text, Shown::in_text, true},
                 [](const F &f) { return fmt::format("{}", fmt::join(f.inspector->types, ", ")); }});
  report::Table table = columns.table("inspectors", "", found);
  table.whole = true;
  return table;
}

report::Answer list_inspectors() {
  report::Answer answer;
  answer.command = "inspect";
  answer.headline.what = "inspectors: dnheap inspect NAME TARGET asks one";
  std::vector<Found> all;
  for (const Inspector &one : inspectors())
    all.push_back({&one});
  answer.tables.push_back(inspectors_table(all, false));
  return answer;
}

// Adds up an inspector's main table.
Found sum_of(const Inspector &inspector, report::Table &table) {
  Found out{&inspector, 0};
  const std::optional<u64> count = table.find_column("count"), bytes = table.find_column("bytes"),
                           held_by = table.find_column("held_by");
  auto add = [](const report::Row &row, std::optional<u64> column, std::optional<u64> &sum) {
    if (const u64 *value = column ? row[*column].get_if<u64>() : nullptr)
      sum = sum.value_or(0) + *value;
  };
  for (report::Row row; table.rows(row);) {
    add(row, count, out.objects);
    add(row, bytes, out.bytes);
    if ((*out.rows)++)
      continue;
    for (u64 i = 0; i < row.size() && out.most.empty(); ++i)
      if (table.columns[i].kind == Kind::text && i != held_by)
        out.most = std::string(row[i].text().value_or(""));
    if (const auto holder = held_by ? row[*held_by].text() : std::nullopt; holder && !holder->empty())
      out.most += ", held by " + std::string(*holder);
  }
  if (!count)
    out.objects = out.rows;
  return out;
}

// Asks all inspectors; those that find something come first.
report::Answer ask_inspectors(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "inspect");
  std::vector<Found> all;
  for (const Inspector &one : inspectors()) {
    snapshot.watch().check();
    report::Answer of_one = begin_answer(snapshot, "inspect");
    one.inspect(snapshot, question, of_one);
    all.push_back(sum_of(one, of_one.tables.front()));
    for (const Note &note : of_one.completeness->notes)
      if (note.effect != Effect::none)
        answer.completeness->notes.add(note);
  }
  std::ranges::stable_partition(all, [](const Found &one) { return one.rows > u64{0}; });
  answer.tables.push_back(inspectors_table(all, true));
  if (all.front().rows > u64{0})
    answer.next_command = fmt::format("dnheap inspect {} {}", all.front().inspector->name, shell_word(question.target));
  return answer;
}

Plan plan_of(const Inspector &inspector) {
  Plan plan(passes_of_waste); // the passes for finding holders
  plan.then(inspector.own ? inspector.own : "walk").then("holders");
  if (inspector.names_holders)
    plan.perhaps(Pass::live);
  if (inspector.finds_paths)
    plan.perhaps(Pass::graph | Pass::owned_roots).perhaps("breadth-first search");
  return plan;
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
  if (const Inspector *inspector = find_inspector(question.subject))
    return plan_of(*inspector);
  Plan plan;
  if (question.subject.empty()) {
    plan = Plan(passes_of_waste);
    for (const Inspector &one : inspectors())
      plan.then(one.own ? one.own : "walk");
    plan.then("holders").perhaps(Pass::live | Pass::graph | Pass::owned_roots).perhaps("breadth-first search");
  }
  return plan;
}

report::Answer answer_inspect(const Snapshot &snapshot, const Question &question) {
  const Inspector *inspector = find_inspector(question.subject);
  if (!inspector)
    return question.subject.empty() ? ask_inspectors(snapshot, question) : list_inspectors();
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
