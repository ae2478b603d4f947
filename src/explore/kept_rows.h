// KeptRows: the rows of one table as people read them, column by column, so that a browser can turn over all of them,
// sorted and filtered. Costs 9 bytes a cell and each text once; a new order or filter costs one look at each row. Not
// for several threads at once.
#pragma once
#include "base/watch.h"
#include "report/table.h"

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dnheap::explore {

using nlohmann::ordered_json;

// Which rows are asked for, and in what order.
struct RowsWanted {
  u64 from = 0, count = 200;
  std::string order; // a column's key: numbers from the largest, texts from A; "-" in front: reversed; empty: as is
  std::string containing; // a row is shown if one of its texts has this in it, in upper or lower case
};

class KeptRows {
public:
  // Reads rows from the table until `most_cells` are kept. Throws the errors of the table's source.
  KeptRows(const report::Table &table, u64 most_cells, const Watch &watch);

  // {"name", "title", "columns", "count", "kept", "notes", "total"}; `count` is null if nobody counted the rows, and
  // larger than `kept` if there are more.
  ordered_json head() const;
  // {"total", "rows"}: the rows that contain the text, and those of them that are asked for. Throws UsageError if there
  // is no such column to sort by.
  ordered_json rows(const RowsWanted &wanted);

private:
  enum class Tag : u8 { absent, positive, negative, fraction, text };
  struct Stored {
    std::vector<Tag> tags;
    std::vector<u64> bits;
  };

  void add(const report::Row &row);
  u64 number_of(std::string text);
  ordered_json cell(u64 column, u64 row) const;
  bool is_wordy(u64 column) const;
  void select(const RowsWanted &wanted);
  void sort_by(const std::string &order);
  std::string text_at(u64 column, u64 row) const;

  std::string name_, title_;
  std::vector<report::Column> columns_;
  std::vector<std::string> notes_;
  ordered_json total_;
  std::optional<u64> row_count_;
  bool is_whole_ = true;
  u64 kept_ = 0;
  std::vector<Stored> stored_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, u64> numbers_;               // of the texts, which never move
  std::vector<u32> selected_;                                       // row numbers, in order
  std::optional<std::pair<std::string, std::string>> selected_for_; // this order, containing this
};

} // namespace dnheap::explore
