// `verify`: is the heap sound? Every object and every reference is looked at.
#include "analysis/answer_head.h"
#include "analysis/verbs.h"
#include "base/text.h"
#include "graph/reference_check.h"
#include "graph/roots.h"

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

constexpr u64 most_problems = 1000;

const char *text_of(ReferenceProblem problem) {
  switch (problem) {
  case ReferenceProblem::outside: return "refers to an address outside the heap";
  case ReferenceProblem::no_object: return "refers to a place in the heap where no object begins";
  case ReferenceProblem::free_space: return "refers to free space";
  }
  return "";
}

report::Table problems_table(Snapshot &snapshot, const ReferenceCheck &check,
                             const report::Completeness &completeness) {
  report::Table table;
  table.name = "problems";
  table.columns = {{"address", "Address", Kind::address},
                   {"problem", "Problem", Kind::text},
                   {"slot", "Slot", Kind::address},
                   {"target", "Target", Kind::address},
                   {"type", "Type", Kind::text}};
  std::vector<report::Row> rows;
  for (const report::Completeness::Gap &gap : completeness.gaps)
    rows.push_back({gap.start, gap.reason, Cell(), Cell(), Cell()});
  TypeSystem &types = snapshot.runtime().types();
  for (const BadReference &bad : check.bad_references)
    rows.push_back({bad.object, text_of(bad.problem), bad.slot ? Cell(bad.slot) : Cell(), bad.target,
                    types.name(bad.method_table)});
  for (Address method_table : check.undescribed)
    rows.push_back({method_table, "the references of this type's objects are not described soundly (GCDesc)", Cell(),
                    Cell(), types.name(method_table)});
  if (check.bad > check.bad_references.size())
    table.notes.push_back(count_text(check.bad - check.bad_references.size()) + " more bad references are not listed");
  table.row_count = rows.size();
  table.rows = report::rows_of(std::move(rows));
  return table;
}

report::Table totals_table(const ReferenceCheck &check, u64 problems) {
  report::Table table;
  table.name = "totals";
  table.columns = {{"objects", "Objects", Kind::count},
                   {"references", "References", Kind::count},
                   {"hidden", "Hidden", Kind::count},
                   {"bad_references", "Bad references", Kind::count},
                   {"problems", "Problems", Kind::count},
                   {"edges", "Hash of all references", Kind::address, report::Shown::in_data}};
  table.row_count = 1;
  table.rows = report::rows_of({{check.objects, check.references, check.hidden, check.bad, problems, check.edges}});
  return table;
}

} // namespace

report::Answer answer_verify(Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_indexed_answer(snapshot, question, "verify");
  ReferenceCheck check = check_references(snapshot.heap(), snapshot.runtime(), snapshot.index(), snapshot.references(),
                                          snapshot.threads(), snapshot.watch(), most_problems);
  add_root_notes(snapshot, answer);
  u64 problems = check.bad + check.unreadable + check.undescribed.size() + answer.completeness->gaps.size();
  answer.headline += problems ? "; " + count_text(problems) + " PROBLEMS"
                              : "; sound: all " + count_text(check.references) + " references lead to objects";
  answer.tables = {problems_table(snapshot, check, *answer.completeness), totals_table(check, problems)};
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap stat " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
