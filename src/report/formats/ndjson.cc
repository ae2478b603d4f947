// NDJSON: the answer as one line, for a store of many dumps. If a table has the verb's name and one row, its cells
// become members of the object; other tables become lists of objects.
#include "base/text.h"
#include "report/encoding.h"
#include "report/write.h"

#include <algorithm>

namespace dnheap::report {

namespace {

constexpr u64 most_notes = 10, longest_note = 300;

void append_members(std::string &out, const Table &table, const Row &row) {
  const char *separator = "";
  for (u64 i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].shown == Shown::in_text)
      continue;
    out += separator;
    append_json_text(out, table.columns[i].key);
    out += ':';
    append_json(out, row[i], table.columns[i].kind);
    separator = ",";
  }
}

// Leaves out the list of gaps, which has no bound.
void append_completeness(std::string &out, const Completeness &completeness) {
  std::vector<Cell> notes;
  for (const Note &note : completeness.notes)
    if (notes.size() < most_notes)
      notes.push_back(shortened(note.sentence(), longest_note));
  auto walked = [&](u64 count) { return completeness.is_walked ? Cell(count) : Cell(); };
  append_json_object(out, {{"objects", walked(completeness.objects)},
                           {"bytes", walked(completeness.bytes)},
                           {"bad_objects", walked(completeness.bad_objects)},
                           {"complete", completeness.complete()},
                           {"gaps", completeness.gaps.size() + completeness.more_gaps},
                           {"notes", notes}});
}

} // namespace

void write_ndjson(const Answer &answer, const WriteOptions &options, Sink &sink) {
  std::string out = "{\"schema\":";
  append_json_text(out, "dnheap-" + answer.command + "/1");
  out += ",\"dnheap_version\":";
  append_json_text(out, DNHEAP_VERSION);
  out += ",\"target\":";
  append_json_object(out, answer.target);
  if (!answer.error.empty()) {
    out += ",\"error\":";
    append_json_text(out, answer.error);
  }
  if (answer.completeness) {
    out += ",\"completeness\":";
    append_completeness(out, *answer.completeness);
  }
  for (const Table *table : tables_to_write(answer, options, Shown::in_data)) {
    out += ',';
    Rows rows(*table, options);
    if (table->name == answer.command) {
      if (const Row *row = rows.next())
        append_members(out, *table, *row);
      continue;
    }
    append_json_text(out, table->name);
    out += ":[";
    const char *separator = "";
    while (const Row *row = rows.next()) {
      out += separator;
      out += '{';
      append_members(out, *table, *row);
      out += '}';
      separator = ",";
    }
    out += ']';
  }
  sink.write(out + "}\n");
  sink.flush();
}

} // namespace dnheap::report
