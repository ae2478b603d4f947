#include "report/write.h"

#include "base/not_found.h"
#include "base/text.h"

namespace dnheap::report {

std::span<const Writer> writers() {
  static constexpr Writer rows[] = {
      {"text", 20, true, nullptr, write_text}, // as many as fit a screen
      {"json", 0, true, nullptr, write_json},
      {"csv", 0, false, nullptr, write_csv},
      {"markdown", 20, true, nullptr, write_markdown},
      {"junit", 0, true, "checks", write_junit},
      {"github", 0, true, "checks", write_github},
      {"ndjson", 0, true, "summary", write_ndjson},
      {"addresses", 0, false, "objects", write_addresses},
      {"folded", 0, false, "stacks", write_folded},
      {"speedscope", 0, false, "stacks", write_speedscope},
  };
  return rows;
}

std::string unsaid(const Answer &answer) {
  if (!answer.completeness)
    return "";
  const Completeness &c = *answer.completeness;
  std::string out;
  u64 bytes = c.more_gap_bytes;
  for (const Completeness::Gap &gap : c.gaps)
    bytes += gap.end - gap.start;
  if (!c.gaps.empty())
    out = bytes_text(bytes) + " in " + count_text(c.gaps.size() + c.more_gaps) +
          (c.gaps.size() + c.more_gaps == 1 ? " gap" : " gaps") + " not walked, the first at " +
          hex(c.gaps.front().start) + ": " + c.gaps.front().reason;
  else if (!c.notes.empty())
    out = c.notes.begin()->sentence();
  else if (!c.complete())
    out = count_text(c.bad_objects) + (c.bad_objects == 1 ? " bad object" : " bad objects");
  if (out.empty())
    return "";
  const u64 more = c.notes.size() - (c.gaps.empty() && !c.notes.empty() ? 1 : 0);
  if (more)
    out += "; " + count_text(more) + " more " + (more == 1 ? "note" : "notes") + " with --format json";
  return (c.complete() ? "note: " : "INCOMPLETE: ") + out;
}

const Writer *find_writer(std::string_view name) {
  for (const Writer &writer : writers())
    if (writer.name == name)
      return &writer;
  return nullptr;
}

std::vector<const Table *> tables_to_write(const Answer &answer, const WriteOptions &options, Shown reader) {
  std::vector<const Table *> tables;
  std::string names;
  for (const Table &table : answer.tables) {
    if (table.shown != Shown::everywhere && table.shown != reader)
      continue;
    if (options.table.empty() || options.table == table.name)
      tables.push_back(&table);
    names += (names.empty() ? "" : ", ") + table.name;
  }
  // A table hidden from this reader (because it is empty, say) is shown if it was asked for by name.
  for (const Table &table : answer.tables)
    if (tables.empty() && options.table == table.name)
      tables.push_back(&table);
  if (tables.empty() && !options.table.empty())
    throw NotFound("no table '" + options.table + "' in the answer of '" + answer.command + "'; it has: " + names);
  return tables;
}

Rows::Rows(const Table &table, const WriteOptions &options)
    : table_(table), options_(options), top_(table.whole ? 0 : options.top) {}

bool Rows::pull(Row &row) {
  options_.watch.check();
  row.resize(table_.columns.size());
  for (Cell &cell : row)
    cell.clear();
  return table_.rows && table_.rows(row);
}

bool Rows::next(Row &row) {
  if ((top_ && count_ == top_) || !pull(row))
    return false;
  ++count_;
  return true;
}

const Row *Rows::next() { return next(row_) ? &row_ : nullptr; }

bool Rows::left_out_some() {
  return top_ && count_ == top_ && (table_.row_count ? *table_.row_count > top_ : pull(row_));
}

} // namespace dnheap::report
