// `export`: writes the heap as a file of another tool's format; the answer shows what the file contains and what it
// lacks.
#include "analysis/answer_head.h"
#include "analysis/export/exporter.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "objects/roots.h"

namespace dnheap {

namespace {

using report::Kind;

const Exporter &exporter_of(const Question &question) {
  std::string names;
  for (const Exporter &one : exporters()) {
    if (question.as == one.name)
      return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw UsageError("export needs --as with one of " + names);
}

void check(const Question &question, const Exporter &exporter) {
  if (question.output.empty())
    throw UsageError("export needs a file to write");
  const std::string name = std::string("--as ") + exporter.name;
  if (exporter.is_neighbourhood && !question.around)
    throw UsageError(name + " shows the objects around one object: give --around ADDRESS");
  if (!exporter.is_neighbourhood && (question.around || question.depth || question.limit))
    throw UsageError(name + " writes the whole heap: --around, --depth and --limit need --as dot");
  if (exporter.is_neighbourhood && question.limit == u64{0})
    throw UsageError("--limit must be at least 1: a file without objects shows nothing");
  if (question.values && !exporter.takes_values)
    throw UsageError("--values needs a format with values; " + name + " has none");
}

report::Table table_of(const Exported &what, u64 file_bytes) {
  report::Table table;
  table.name = "exported";
  table.whole = true;
  table.columns = {{"part", "Part", Kind::text}, {"count", "Count", Kind::count}, {"bytes", "Bytes", Kind::bytes}};
  std::vector<report::Row> rows;
  auto add = [&](const char *part, std::optional<u64> count, std::optional<u64> bytes = {}) {
    if (count || bytes)
      rows.push_back({part, count, bytes});
  };
  add("objects", what.objects, what.bytes);
  add("unreachable", what.unreachable);
  add("references", what.references);
  add("types", what.types);
  add("roots", what.roots);
  add("strings", what.strings);
  add("frames", what.frames);
  add("file", {}, file_bytes);
  table.set_rows(std::move(rows));
  return table;
}

} // namespace

Plan plan_export(const Question &question) {
  const Exporter &exporter = exporter_of(question);
  check(question, exporter);
  Plan plan{Passes(Pass::index)};
  exporter.plan(plan);
  return plan;
}

report::Answer answer_export(const Snapshot &snapshot, const Question &asked) {
  Question question = asked;
  question.values &= !snapshot.target().has_blanked_values();
  const Exporter &exporter = exporter_of(question);
  report::Answer answer = begin_answer(snapshot, "export");
  NewFile file(question.output);
  report::Completeness completeness = *answer.completeness;
  // If roots are missing, objects that nothing seems to hold may be alive.
  completeness.notes.add_all(snapshot.roots().notes, Subject::roots);
  const Exported what = exporter.write({snapshot, question, completeness}, file);
  if (snapshot.has_lost_memory())
    throw Error(snapshot.target().path + ": part of it was lost while it was exported; copy it to a sound disk first");
  file.commit();

  report::Table table = table_of(what, file.size());
  table.notes.push_back(std::string(exporter.name) + " holds " + exporter.holds + "; opened by: " + exporter.opened_by);
  if (exporter.takes_values)
    table.notes.push_back(question.values ? "the file has the contents of strings, cut after " +
                                                count_text(most_exported_characters) + " characters"
                                          : "the file has names of types, fields and methods, addresses and sizes, but "
                                            "no values; --values adds the contents of strings");
  answer.tables.push_back(std::move(table));
  answer.completeness->notes.add_all(what.notes);
  if (asked.values && snapshot.target().has_blanked_values())
    answer.completeness->notes.add("there are no values: " + snapshot.target().why_no_values());
  add_root_notes(snapshot, answer);
  add_name_notes(snapshot, answer);
  return answer;
}

} // namespace dnheap
