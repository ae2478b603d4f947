// TextTable: one table as aligned columns. Rows are laid out in blocks: the first block determines the widths, so that
// a short table is exact and a long one still streams. Not for several threads at once.
#pragma once
#include "report/formats/columns.h"
#include "report/formats/screen_style.h"
#include "report/write.h"

#include <string>
#include <vector>

namespace dnheap::report {

class TextTable {
public:
  TextTable(const Table &table, const WriteOptions &options, Sink &sink);

  void write();

private:
  using Cells = std::vector<std::string>;
  using Lines = std::vector<std::string>;        // of one cell or one row
  enum class Says : u8 { names, words, titles }; // whether a row contains names from the dump, our own words, or titles

  Kind kind_of(u64 column) const { return table_.columns[columns_[column]].kind; }
  bool is_text(u64 column) const { return kind_of(column) == Kind::text || kind_of(column) == Kind::nested; }
  bool is_limited() const { return options_.width && !options_.full_names; }
  bool wraps(u64 column) const { return table_.columns[columns_[column]].wraps; }
  Cells cells_of(const Row &row, const char *absent) const;
  const Row *next(Rows &rows);
  void start();
  u64 least_width(u64 column, const std::string &title, u64 widest) const;
  void fit_bars(std::vector<WantedColumn> &wanted);
  void drop_column(u64 column);
  // True if all cells after that column are empty.
  static bool ends_with(const Cells &cells, u64 column);
  void write_block();
  void write_row(const Cells &cells, Says says);
  Lines lines_of(u64 column, const std::string &cell, u64 width, Says says) const;
  // Returns the part of a row whose columns, `first` up to `end`, share a line.
  Lines part_of_row(const Cells &cells, u64 first, u64 end, Says says) const;
  void write_left_out(u64 shown);

  const Table &table_;
  const WriteOptions &options_;
  Sink &sink_;
  const ScreenStyle style_;
  std::vector<u64> columns_;         // of the table
  std::vector<PlacedColumn> placed_; // empty until the first block is complete
  std::vector<Cells> block_;
  Cells total_;
};

} // namespace dnheap::report
