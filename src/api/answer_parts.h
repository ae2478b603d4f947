// The internal data behind public answers. For the files of this folder.
#pragma once
#include "dnheap/answer.h"
#include "report/answer.h"

namespace dnheap::v0 {

struct Answer::Inside {
  report::Answer answer;
  std::string headline; // of `answer`
};

struct AnswerParts {
  static const report::Cell &cell(const Value &value) { return *static_cast<const report::Cell *>(value.cell_); }
  static Value value(const report::Cell &cell) { return Value(&cell); }
  static const report::Row &row(const Row &row) { return *static_cast<const report::Row *>(row.row_); }
  static const report::Table &table(const Row &row) { return *static_cast<const report::Table *>(row.table_); }
  static Row row(const report::Row &row, const report::Table &table) { return Row(&row, &table); }
  static const report::Table &table(const Table &table) { return *static_cast<const report::Table *>(table.table_); }
  static Table table(const report::Table &table) { return Table(&table); }
  static Answer answer(report::Answer answer) {
    std::string headline = report::headline_text(answer);
    return Answer(std::make_unique<Answer::Inside>(Answer::Inside{std::move(answer), std::move(headline)}));
  }
};

Note outer(const dnheap::Note &note);
std::vector<Note> outer(const Notes &notes);
Completeness outer(const report::Completeness &of);

} // namespace dnheap::v0
