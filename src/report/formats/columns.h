// Columns: computes the width of a table's columns, and the line of a row on which each stands, so that no line is
// wider than the screen. Shortens columns that may be shortened, the widest first; if they would become too narrow,
// rows take several lines. Some µs a table; any thread.
#pragma once
#include "base/integers.h"

#include <span>
#include <vector>

namespace dnheap::report {

constexpr u64 column_gap = 2;  // between two columns
constexpr u64 fold_indent = 4; // indentation of a row's second and further lines

struct WantedColumn {
  u64 width; // of the widest cell
  u64 least; // narrowest useful width
};

struct PlacedColumn {
  u64 width = 0;
  u64 line = 0; // which line of the row; never less than for the previous column
};

// Returns one entry per wanted column, in their order. `screen` 0: no limit.
std::vector<PlacedColumn> place_columns(std::span<const WantedColumn> wanted, u64 screen);

} // namespace dnheap::report
