// JSON: one object, one row per line, so that line tools and diffs can work on it. Written as rows come.
#include "report/encoding.h"
#include "report/write.h"

namespace dnheap::report {

namespace {

constexpr std::string_view schema = "dnheap/1";

// The notes for scripts, in the order of the sentences.
void append_noted(std::string &out, const Notes &notes) {
  out += ",\"noted\":[";
  for (const Note &note : notes) {
    out += &note == &notes.front() ? "\n" : ",\n";
    append_json_object(out, {{"subject", name_of(note.subject)},
                             {"effect", name_of(note.effect)},
                             {"text", note.text},
                             {"remedy", text_cell(note.remedy)}});
  }
  out += ']';
}

void append_completeness(std::string &out, const Completeness &completeness) {
  auto walked = [&](u64 count) { return completeness.is_walked ? std::to_string(count) : "null"; };
  out += "{\"objects\":" + walked(completeness.objects);
  out += ",\"bytes\":" + walked(completeness.bytes);
  out += ",\"bad_objects\":" + walked(completeness.bad_objects);
  out += std::string(",\"complete\":") + (completeness.complete() ? "true" : "false");
  out += ",\"gaps\":[";
  for (u64 i = 0; i < completeness.gaps.size(); ++i) {
    const Completeness::Gap &gap = completeness.gaps[i];
    out += i ? ",\n" : "\n";
    out += "{\"start\":";
    append_json(out, gap.start, Kind::address);
    out += ",\"end\":";
    append_json(out, gap.end, Kind::address);
    out += ",\"reason\":";
    append_json_text(out, gap.reason);
    out += '}';
  }
  out += "],\"notes\":";
  const std::vector<std::string> notes = completeness.notes.sentences();
  append_json(out, std::vector<Cell>(notes.begin(), notes.end()), Kind::nested);
  append_noted(out, completeness.notes);
  out += '}';
}

// Makes "\n{"key":" or ",\n{"key":" for the cell of each shown column, once per table.
std::vector<std::string> prefixes_of(const Table &table) {
  std::vector<std::string> prefixes;
  bool first = true;
  for (const Column &column : table.columns) {
    std::string prefix;
    if (column.shown != Shown::in_text) {
      prefix = first ? "{" : ",";
      append_json_text(prefix, column.key);
      prefix += ':';
      first = false;
    }
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

// Returns true if there are more rows, which options.top left out.
bool write_rows_of(const Table &table, const WriteOptions &options, Sink &sink) {
  const std::vector<std::string> prefixes = prefixes_of(table);
  bool left_out_some = false;
  auto write = [&](std::string &out, const Row &row, bool is_first) {
    out += is_first ? "\n" : ",\n";
    for (u64 i = 0; i < prefixes.size(); ++i) {
      if (prefixes[i].empty())
        continue;
      out += prefixes[i];
      append_json(out, row[i], table.columns[i].kind);
    }
    out += '}';
  };
  write_rows(table, options, sink, write, &left_out_some);
  return left_out_some;
}

} // namespace

void write_json(const Answer &answer, const WriteOptions &options, Sink &sink) {
  std::string out = "{\"schema\":";
  append_json_text(out, schema);
  out += ",\"command\":";
  append_json_text(out, answer.command);
  out += ",\"dnheap_version\":";
  append_json_text(out, DNHEAP_VERSION);
  out += ",\n\"target\":";
  append_json_object(out, answer.target);
  if (answer.completeness) {
    out += ",\n\"completeness\":";
    append_completeness(out, *answer.completeness);
  }
  out += ",\n\"tables\":{";
  sink.write(out);
  const char *separator = "\n";
  std::vector<Fact> left_out; // by table: the number of rows, as far as known
  for (const Table *table : tables_to_write(answer, options, Shown::in_data)) {
    out = separator;
    append_json_text(out, table->name);
    sink.write(out + ":[");
    if (write_rows_of(*table, options, sink))
      left_out.push_back({table->name, table->row_count ? Cell(*table->row_count - options.top) : Cell()});
    sink.write("]");
    separator = ",\n";
  }
  out = "}";
  if (!left_out.empty()) {
    out += ",\n\"left_out\":";
    append_json_object(out, left_out);
  }
  sink.write(out + "}\n");
  sink.flush();
}

} // namespace dnheap::report
