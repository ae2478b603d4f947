// Columns: how wide those of a table are drawn, and on which line of its row each stands, so that no line is wider than
// the screen. What may be shortened is, the widest first; where that would leave too little, rows take several
// lines. Some µs a table; any thread.
#pragma once
#include "base/integers.h"

#include <span>
#include <vector>

namespace dnheap::report {

constexpr u64 column_gap = 2;  // between two columns
constexpr u64 fold_indent = 4; // in front of the second line of a row, and those after it

struct WantedColumn {
  u64 width; // what the widest cell takes
  u64 least; // what its cells can be made to take and still say something
};

struct PlacedColumn {
  u64 width = 0;
  u64 line = 0; // of the row; never less than that of the column before
};

// As many as were wanted, in their order. `screen` 0: no limit.
std::vector<PlacedColumn> place_columns(std::span<const WantedColumn> wanted, u64 screen);

} // namespace dnheap::report
