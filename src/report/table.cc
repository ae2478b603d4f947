#include "report/table.h"

#include "base/error.h"

#include <algorithm>
#include <memory>

namespace dnheap::report {

namespace {

int sign(std::partial_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Groups cells for sorting: 0 absent, 1 truth values, 2 numbers, 3 texts, 4 the rest.
int rank(const Cell &cell) {
  if (cell.is_absent())
    return 0;
  if (cell.get_if<bool>())
    return 1;
  if (cell.get_if<u64>() || cell.get_if<i64>() || cell.get_if<double>())
    return 2;
  return cell.text() ? 3 : 4;
}

int compare_numbers(const Cell &a, const Cell &b) {
  // Compare integers exactly, since two different addresses may be equal as doubles.
  if (a.get_if<double>() || b.get_if<double>()) {
    auto number = [](const Cell &cell) {
      if (const double *d = cell.get_if<double>())
        return *d;
      if (const u64 *u = cell.get_if<u64>())
        return static_cast<double>(*u);
      return static_cast<double>(*cell.get_if<i64>());
    };
    return sign(number(a) <=> number(b));
  }
  auto negative = [](const Cell &cell) {
    const i64 *i = cell.get_if<i64>();
    return i && *i < 0;
  };
  if (negative(a) != negative(b))
    return negative(a) ? -1 : 1;
  auto bits = [](const Cell &cell) {
    const u64 *u = cell.get_if<u64>();
    return u ? *u : static_cast<u64>(*cell.get_if<i64>());
  };
  return sign(bits(a) <=> bits(b)); // in two's complement also right for two negative numbers
}

} // namespace

Cell::Cell() = default;
// The variant's own copy constructor is not used: when memory for a text runs out, libstdc++ treats the new variant as
// never empty and destroys it, although it holds nothing yet.
Cell::Cell(const Cell &other) {
  std::visit(
      [this](const auto &value) {
        auto copy = value;
        value_ = std::move(copy);
      },
      other.value_);
}
Cell::Cell(Cell &&) noexcept = default;
Cell &Cell::operator=(const Cell &other) { return *this = Cell(other); }
Cell &Cell::operator=(Cell &&) noexcept = default;
Cell::~Cell() = default;

Cell::Cell(bool value) : value_(value) {}
Cell::Cell(double value) : value_(value) {}
Cell::Cell(std::string text) : value_(std::move(text)) {}
Cell::Cell(const char *text) : value_(std::string(text)) {}
Cell::Cell(std::vector<Cell> list) : value_(std::move(list)) {}
Cell::Cell(std::vector<Fact> object) : value_(std::move(object)) {}

Cell Cell::borrowed(std::string_view text) {
  Cell cell;
  cell.value_ = text;
  return cell;
}

std::optional<u64> Table::find_column(std::string_view key) const {
  for (u64 i = 0; i < columns.size(); ++i)
    if (columns[i].key == key)
      return i;
  return std::nullopt;
}

u64 Table::column(std::string_view key) const {
  if (const std::optional<u64> found = find_column(key))
    return *found;
  throw Error("the table " + name + " has no column " + std::string(key));
}

void Table::set_rows(std::vector<Row> all) {
  const u64 count = all.size();
  set_rows(std::move(all), count);
}

void Table::set_rows(std::vector<Row> first, u64 count) {
  rows = rows_of(std::move(first));
  row_count = count;
}

Cell text_cell(std::string text) { return text.empty() ? Cell() : Cell(std::move(text)); }

RowSource rows_of(std::vector<Row> rows) {
  // The state is shared, because a std::function is copied, and the copy must continue where the original stands.
  struct State {
    std::vector<Row> rows;
    u64 next = 0;
  };
  auto state = std::make_shared<State>(State{std::move(rows)});
  return [state](Row &row) {
    if (state->next == state->rows.size())
      return false;
    row = state->rows[state->next++];
    return true;
  };
}

int compare(const Cell &a, const Cell &b) {
  int kind = rank(a);
  if (kind != rank(b))
    return kind < rank(b) ? -1 : 1;
  switch (kind) {
  case 1: return static_cast<int>(*a.get_if<bool>()) - static_cast<int>(*b.get_if<bool>());
  case 2: return compare_numbers(a, b);
  case 3: return sign(*a.text() <=> *b.text());
  default: return 0;
  }
}

void sort_rows(std::vector<Row> &rows, u64 column) {
  std::stable_sort(rows.begin(), rows.end(), [column](const Row &a, const Row &b) {
    int order = compare(a[column], b[column]);
    bool texts = a[column].text() && b[column].text();
    return texts ? order < 0 : order > 0;
  });
}

} // namespace dnheap::report
