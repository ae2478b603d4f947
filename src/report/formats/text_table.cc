#include "report/formats/text_table.h"

#include "base/text.h"
#include "report/encoding.h"
#include "report/formats/shorten.h"
#include "report/formats/wrap.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap::report {

namespace {

constexpr u64 block_rows = 1000;
constexpr u64 widest_text = 60;   // without a limit on the width: longer texts only shift the rest of their own line
constexpr u64 least_text = 24;    // least width of a name before rows are folded
constexpr u64 least_wrapped = 32; // the same for sentences and paths
constexpr u64 least_bar = 10;     // a shorter one shows nothing
constexpr u64 wrap_indent = 2;

std::string printable_line(std::string_view text) {
  std::string out;
  append_printable(out, text);
  return out;
}

} // namespace

TextTable::TextTable(const Table &table, const WriteOptions &options, Sink &sink)
    : table_(table), options_(options), sink_(sink), style_(options.color), columns_(columns_in_text(table)) {}

void TextTable::write() {
  const u64 width = options_.wrap ? options_.width : 0;
  if (!table_.title.empty())
    for (const std::string &line : wrap(printable_line(table_.title), width))
      sink_.write(style_.heading(line) + "\n");
  if (table_.total)
    total_ = cells_of(*table_.total, "");
  Rows rows(table_, options_);
  while (const Row *row = next(rows)) {
    block_.push_back(cells_of(*row, "-"));
    if (block_.size() == block_rows)
      write_block();
  }
  write_block();
  if (!rows.count())
    sink_.write("(none)\n");
  else if (rows.left_out_some())
    write_left_out(rows.count());
  if (rows.count() && table_.total)
    write_row(total_, Says::words);
  for (const std::string &note : table_.notes)
    for (const std::string &line : wrap(printable_line(note), width, wrap_indent))
      sink_.write(line + "\n");
}

TextTable::Cells TextTable::cells_of(const Row &row, const char *absent) const {
  Cells cells;
  for (u64 i : columns_) {
    std::string &text = cells.emplace_back();
    if (row[i].is_absent())
      text = absent;
    else
      append_text(text, row[i], table_.columns[i], options_.exact);
  }
  return cells;
}

// If an error ends the rows, the ones before it are written first, so that users see they are not all.
const Row *TextTable::next(Rows &rows) {
  try {
    return rows.next();
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    write_block();
    sink_.write(style_.warning("INCOMPLETE:") + " " + printable_line(error.what()) + "\n");
    sink_.flush();
    throw;
  }
}

u64 TextTable::least_width(u64 column, const std::string &title, u64 widest) const {
  if (wraps(column))
    return std::max(width_of(title), std::min(widest, least_wrapped));
  if (is_text(column))
    return std::max(width_of(title), std::min(widest, least_text));
  return widest;
}

void TextTable::drop_column(u64 column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  columns_.erase(columns_.begin() + at);
  for (Cells &cells : block_)
    cells.erase(cells.begin() + at);
  if (!total_.empty())
    total_.erase(total_.begin() + at);
}

// A bar takes the width that the other columns leave, or is dropped.
void TextTable::fit_bars(std::vector<WantedColumn> &wanted) {
  u64 taken = 0;
  for (u64 i = 0; i < wanted.size(); ++i)
    taken += kind_of(i) == Kind::bar ? 0 : wanted[i].width + column_gap;
  for (u64 i = wanted.size(); i-- > 0;) {
    if (kind_of(i) != Kind::bar)
      continue;
    if (taken + least_bar <= options_.width) {
      wanted[i].width = wanted[i].least = std::min(wanted[i].width, options_.width - taken);
      taken += wanted[i].width + column_gap;
    } else {
      wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(i));
      drop_column(i);
    }
  }
}

bool TextTable::ends_with(const Cells &cells, u64 column) {
  return std::all_of(cells.begin() + static_cast<std::ptrdiff_t>(column) + 1, cells.end(),
                     [](const std::string &cell) { return cell.empty(); });
}

// Determines the widths from the heading, the rows at hand and the total, then writes the heading.
void TextTable::start() {
  std::vector<WantedColumn> wanted;
  for (u64 i = 0; i < columns_.size(); ++i) {
    const std::string title = printable_line(table_.columns[columns_[i]].title);
    u64 widest = width_of(title);
    auto widen = [&](const Cells &cells) {
      const u64 width = width_of(cells[i]);
      widest = std::max(widest, is_limited() ? width : std::min(width, widest_text));
    };
    std::for_each(block_.begin(), block_.end(), widen);
    // Our own words may extend over the empty columns after them.
    if (!total_.empty() && !(is_limited() && is_text(i) && ends_with(total_, i)))
      widen(total_);
    wanted.push_back({widest, least_width(i, title, widest)});
  }
  if (is_limited())
    fit_bars(wanted);
  placed_ = place_columns(wanted, is_limited() ? options_.width : 0);
  Cells titles;
  for (u64 i : columns_)
    titles.push_back(printable_line(table_.columns[i].title));
  write_row(titles, Says::titles);
}

void TextTable::write_block() {
  if (placed_.empty())
    start();
  for (const Cells &cells : block_)
    write_row(cells, Says::names);
  block_.clear();
}

TextTable::Lines TextTable::lines_of(u64 column, const std::string &cell, u64 width, Says says) const {
  if (!is_limited() || width_of(cell) <= width)
    return {cell};
  if (kind_of(column) == Kind::bar)
    return {cell.substr(0, (cell.size() * width + widest_bar / 2) / widest_bar)};
  if (!is_text(column))
    return {cell};
  if (wraps(column) || says != Says::names)
    return wrap(cell, width, wrap_indent);
  return {shorten(cell, width)};
}

TextTable::Lines TextTable::part_of_row(const Cells &cells, u64 first, u64 end, Says says) const {
  Lines lines;
  std::vector<u64> used;                             // of each line
  u64 start = placed_[first].line ? fold_indent : 0; // of the column
  for (u64 i = first; i < end; ++i) {
    u64 room = placed_[i].width;
    // The rest of the line is free, so use it.
    if (is_limited() && (i + 1 == end || (says == Says::words && ends_with(cells, i))))
      room = std::max(room, options_.width > start ? options_.width - start : 0);
    const Lines cell = lines_of(i, cells[i], room, says);
    for (u64 n = 0; n < cell.size(); ++n) {
      if (lines.size() == n) {
        lines.emplace_back();
        used.push_back(0);
      }
      const u64 width = width_of(cell[n]);
      const u64 padding = width < placed_[i].width && is_right_aligned(kind_of(i)) ? placed_[i].width - width : 0;
      const u64 gap = (start > used[n] ? start - used[n] : i > first ? column_gap : 0) + padding;
      lines[n].append(gap, ' ').append(cell[n]);
      used[n] += gap + width;
    }
    start = std::max(start + placed_[i].width, used.empty() || cell.size() != 1 ? 0 : used[0]) + column_gap;
  }
  return lines;
}

void TextTable::write_row(const Cells &cells, Says says) {
  for (u64 first = 0, end = 0; first < cells.size(); first = end) {
    while (end < cells.size() && placed_[end].line == placed_[first].line)
      ++end;
    for (std::string &line : part_of_row(cells, first, end, says)) {
      line.resize(line.find_last_not_of(' ') + 1);
      if (line.empty() && first)
        continue;
      sink_.write((says == Says::titles ? style_.heading(line) : line) += '\n');
    }
  }
}

void TextTable::write_left_out(u64 shown) {
  const u64 more = table_.row_count.value_or(0) > shown ? *table_.row_count - shown : 0;
  const std::string number = more ? count_text(more) + " " : "";
  sink_.write(style_.aside(fmt::format("… {}more row{}; --top 0 shows all", number, more == 1 ? "" : "s")) + "\n");
}

} // namespace dnheap::report
