// ColumnsOf: a table in which each column has the function that makes its cells, so that a column is added, moved or
// removed in one place. For tables whose rows fit in memory; tables that stream build their rows themselves. Costs a
// call per cell. Not for several threads at once.
#pragma once
#include "report/table.h"

#include <functional>
#include <type_traits>
#include <utility>

namespace dnheap::report {

// `cell` returns what the column shows of one T: a function, or simply the member itself (&T::count).
template <class T> struct ColumnOf : Column { std::function<Cell(const T &)> cell; };

template <class T> class ColumnsOf {
public:
  ColumnsOf(std::initializer_list<ColumnOf<T>> columns) : columns_(columns) {}

  void add(ColumnOf<T> column) { columns_.push_back(std::move(column)); }

  // A table with one row for each of these, which may be pointers to T.
  template <class Range> Table table(std::string name, std::string title, const Range &items) const {
    Table out;
    out.name = std::move(name);
    out.title = std::move(title);
    out.columns.assign(columns_.begin(), columns_.end());
    std::vector<Row> rows;
    for (const auto &item : items)
      if constexpr (std::is_convertible_v<decltype(item), const T &>)
        rows.push_back(row(item));
      else
        rows.push_back(row(*item));
    out.set_rows(std::move(rows));
    return out;
  }

  // One row, for a total that has a cell in each column.
  Row row(const T &item) const {
    Row out;
    out.reserve(columns_.size());
    for (const ColumnOf<T> &column : columns_)
      out.push_back(column.cell(item));
    return out;
  }

private:
  std::vector<ColumnOf<T>> columns_;
};

// A column of a table with one row.
struct ColumnOfOne : Column {
  Cell cell;
};

inline Table one_row(std::string name, std::initializer_list<ColumnOfOne> columns) {
  Table out;
  out.name = std::move(name);
  out.columns.assign(columns.begin(), columns.end());
  Row row;
  for (const ColumnOfOne &column : columns)
    row.push_back(column.cell);
  out.set_rows({std::move(row)});
  return out;
}

// The last line of the text: a cell for each of these columns, none for the others. Throws Error if a key is unknown.
inline Row total_row(const Table &table, std::initializer_list<std::pair<std::string_view, Cell>> cells) {
  Row out(table.columns.size());
  for (const auto &[key, cell] : cells)
    out[table.column(key)] = cell;
  return out;
}

} // namespace dnheap::report
