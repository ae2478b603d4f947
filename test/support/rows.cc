#include "support/rows.h"

#include "base/text.h"
#include "report/stored_rows.h"
#include "snapshot/snapshot.h"

#include <stdexcept>

namespace dnheap::test {

namespace {

std::string text_of(const report::Cell &cell, report::Kind kind) {
  if (std::optional<std::string_view> text = cell.text())
    return std::string(*text);
  if (const u64 *number = cell.get_if<u64>())
    return kind == report::Kind::address ? hex(*number) : std::to_string(*number);
  if (const i64 *number = cell.get_if<i64>())
    return std::to_string(*number);
  if (const bool *value = cell.get_if<bool>())
    return *value ? "true" : "false";
  std::string out;
  if (const auto *list = cell.get_if<std::vector<report::Cell>>())
    for (const report::Cell &one : *list)
      out += (out.empty() ? "" : " ") + text_of(one, report::Kind::number);
  if (const auto *object = cell.get_if<std::vector<report::Fact>>())
    for (const report::Fact &fact : *object)
      out += (out.empty() ? "" : ",") + fact.key + "=" + text_of(fact.value, report::Kind::number);
  return out;
}

} // namespace

report::Answer answer_of(HeapBuilder &heap, const char *name, const Question &question) {
  SnapshotOptions options;
  options.threads = 2;
  Snapshot snapshot(heap.target(), options);
  for (const Verb &verb : verbs())
    if (verb.name == std::string_view(name)) {
      report::Answer answer = ask(verb, snapshot, question);
      report::store_rows(answer, 0, {}, {}); // some stream from the snapshot
      return answer;
    }
  throw std::logic_error(std::string("no verb ") + name);
}

std::vector<TextRow> text_rows_of(report::Answer &answer, const char *name) {
  std::vector<TextRow> out;
  for (report::Table &table : answer.tables)
    if (table.name == name)
      for (report::Row row(table.columns.size()); table.rows(row); row.assign(table.columns.size(), {})) {
        TextRow &to = out.emplace_back();
        for (u64 i = 0; i < table.columns.size(); ++i)
          to[table.columns[i].key] = text_of(row[i], table.columns[i].kind);
      }
  return out;
}

std::string findings_of_kind(HeapBuilder &heap, const std::string &kind) {
  report::Answer answer = answer_of(heap, "report", {.target = "core"});
  std::string out;
  for (TextRow &row : text_rows_of(answer, "findings"))
    if (row["kind"] == kind)
      out += row["sureness"] + " " + row["count"] + ": " + row["text"] + "\n";
  return out;
}

} // namespace dnheap::test
