#include "report/write.h"

namespace dnheap::report {

std::span<const Writer> writers() {
  static constexpr Writer rows[] = {
      {"text", 20, write_text}, // what fits a screen
      {"json", 0, write_json},
      {"csv", 0, write_csv},
  };
  return rows;
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
  if (tables.empty() && !options.table.empty())
    throw Error("no table '" + options.table + "' in the answer of '" + answer.command + "'; it has: " + names);
  return tables;
}

Rows::Rows(const Table &table, const WriteOptions &options)
    : table_(table), options_(options), top_(table.whole ? 0 : options.top) {}

bool Rows::pull() {
  options_.watch.check();
  row_.assign(table_.columns.size(), Cell());
  return table_.rows && table_.rows(row_);
}

const Row *Rows::next() {
  if ((top_ && count_ == top_) || !pull())
    return nullptr;
  ++count_;
  return &row_;
}

bool Rows::left_out_some() { return top_ && count_ == top_ && pull(); }

} // namespace dnheap::report
