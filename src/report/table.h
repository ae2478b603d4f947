// Table: the result of an analysis: typed columns and rows that are produced one by one, so that a table of 46 million
// objects costs no memory. Tables know nothing about heaps, and analyses know nothing about output formats. A streaming
// RowSource gives its rows once, to one writer, in one thread; one made by rows_of() holds its rows in memory.
#pragma once
#include "base/integers.h"

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dnheap::report {

struct Fact;

// One value. Absent (the default) is null in JSON, empty in CSV and "-" in text. Lists and objects are for columns of
// Kind::nested and for facts; addresses in them must be given as text: hex(address).
class Cell {
public:
  // Copies and moves are not inline: otherwise GCC 12 takes the variant for uninitialized and warns at every use.
  Cell();
  Cell(const Cell &);
  Cell(Cell &&) noexcept;
  Cell &operator=(const Cell &);
  Cell &operator=(Cell &&) noexcept;
  ~Cell();

  Cell(bool value);
  template <std::unsigned_integral T> Cell(T value);
  template <std::signed_integral T> Cell(T value);
  Cell(double value);
  Cell(std::string text);
  Cell(const char *text);
  Cell(std::vector<Cell> list);
  Cell(std::vector<Fact> object);
  template <class T> Cell(const std::optional<T> &value);
  // For millions of rows: assigns a number without making, moving and destroying a Cell.
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Cell &operator=(T value);
  void clear();                       // makes the cell absent
  void borrow(std::string_view text); // as borrowed(), in place
  // Returns a cell that does not copy the text: the text must exist as long as the source of the rows. For type names
  // in streamed rows.
  static Cell borrowed(std::string_view text);

  bool is_absent() const { return std::holds_alternative<std::monostate>(value_); }
  template <class T> const T *get_if() const { return std::get_if<T>(&value_); }
  // Returns the text, owned or borrowed; nullopt if the cell holds something else.
  std::optional<std::string_view> text() const {
    if (const std::string *own = get_if<std::string>())
      return *own;
    if (const std::string_view *view = get_if<std::string_view>())
      return *view;
    return std::nullopt;
  }

private:
  std::variant<std::monostate, bool, u64, i64, double, std::string, std::string_view, std::vector<Cell>,
               std::vector<Fact>>
      value_;
};

// Returns a text cell, or an absent cell if the text is empty.
Cell text_cell(std::string text);

// A named value of the answer's target or of a nested object.
struct Fact {
  std::string key;
  Cell value;
};

template <std::unsigned_integral T> Cell::Cell(T value) : value_(u64{value}) {}
template <std::signed_integral T> Cell::Cell(T value) : value_(i64{value}) {}
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) Cell &Cell::operator=(T value) {
  value_ = u64{value};
  return *this;
}
inline void Cell::borrow(std::string_view text) { value_ = text; }
inline void Cell::clear() {
  if (!is_absent())
    value_ = std::monostate();
}
template <class T> Cell::Cell(const std::optional<T> &value) {
  if (value)
    *this = Cell(*value);
}

// The meaning of a column's cells. Text (the format) shows a count as 46,077,786, bytes as 861.0 MiB, a number (an id)
// as plain digits. A percent is stored as a fraction: 0.25 is 25.0%. Changes have a sign in text: +869.0 MiB, -14. A
// bar is a fraction, too; only text draws it, if there is room. A double in a column of numbers has two digits after
// the point; a real has as many as needed.
enum class Kind : u8 {
  count,
  bytes,
  address,
  text,
  percent,
  number,
  boolean,
  nested,
  bytes_change,
  count_change,
  bar,
  real
};

// The formats that show a column: text leaves out columns that would not fit, data formats (JSON, CSV) those that only
// help the eye.
enum class Shown : u8 { everywhere, in_text, in_data };

struct Column {
  std::string key;   // as in doc/schema: "aligned_bytes"
  std::string title; // heading in text: "Aligned"
  Kind kind = Kind::text;
  Shown shown = Shown::everywhere;
  // Text that is too long for the screen continues on the next line (sentences, paths); other columns are shortened.
  bool wraps = false;
  bool is_value = false; // the program's own texts, shown unchanged; false: names, in which a backing field gets its
                         // property's name
};

// Has one cell per column.
using Row = std::vector<Cell>;

// Fills the row, or returns false at the end. All cells of the row are absent before the call. May throw Error. One
// thread at a time calls it, not always the same one. Borrowed text must exist as long as the source.
using RowSource = std::function<bool(Row &row)>;

struct Table {
  std::string name;  // key in JSON, and the word for --table
  std::string title; // heading in text; empty for none
  std::vector<Column> columns;
  RowSource rows;                 // by set_rows(), or streamed
  std::optional<u64> row_count;   // if known: lets text say how many rows it left out
  std::optional<Row> total;       // the last line in text; other formats leave it out
  std::vector<std::string> notes; // how to read the table; shown below it in text only
  Shown shown = Shown::everywhere;
  bool whole = false;          // ignore --top: the rows make sense only together
  bool has_long_texts = false; // a row may have megabytes, so few rows are held at a time

  // Sets all rows and their count, or the first rows of a table that has `count`.
  void set_rows(std::vector<Row> all);
  void set_rows(std::vector<Row> first, u64 count);
  // Returns the index of the column with that key.
  std::optional<u64> find_column(std::string_view key) const;
  // The same; throws Error if no column has that key.
  u64 column(std::string_view key) const;
};

// Returns a source that gives these rows.
RowSource rows_of(std::vector<Row> rows);

// Returns -1, 0 or 1: absent cells first, then by value; numbers of any type compare as numbers, texts as bytes.
int compare(const Cell &a, const Cell &b);

// Sorts by one column, largest first for numbers and a to z for texts; equal rows keep their order.
void sort_rows(std::vector<Row> &rows, u64 column);

} // namespace dnheap::report
