// Answer: the answer of a verb (dnheap/verb.h): facts, completeness and tables, as values or as text, JSON or CSV.
// Valid as long as its Snapshot; use it from the Snapshot's thread. Rows are produced one by one and cost no memory,
// whatever the length of a table. So they can be read only once, by for_each_row() or write().
#pragma once
#include "dnheap/heap.h"

#include <cstdio>
#include <memory>

namespace dnheap::DNHEAP_ABI {

// A cell of a row, or a part of one. It does not own its data: it is valid until the next row is read, or, outside of
// rows, as long as the Answer.
class Value {
public:
  enum class Kind : std::uint8_t { absent, boolean, integer, real, text, list, record };
  Kind kind() const;
  bool is_absent() const { return kind() == Kind::absent; }
  // Nullopt if the value is of another kind. number(): non-negative integers, and addresses; real(): any number.
  std::optional<bool> boolean() const;
  std::optional<std::uint64_t> number() const;
  std::optional<double> real() const;
  std::optional<std::string_view> text() const;
  // The parts of a list or record; 0 for other kinds.
  std::size_t size() const;
  Value operator[](std::size_t part) const;     // below size()
  std::string_view key(std::size_t part) const; // of records
  Value find(std::string_view key) const;       // is_absent() if there is none

private:
  friend struct AnswerParts;
  explicit Value(const void *cell) : cell_(cell) {}
  const void *cell_;
};

struct Column {
  // The meaning of a column's cells. Text output shows a count as 46,077,786, bytes as 861.0 MiB, a number as plain
  // digits. A percent is stored as a fraction. Changes have a sign in text: +869.0 MiB. A bar is a fraction, drawn in
  // text.
  enum class Kind : std::uint8_t {
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
    real // any number, shown with as many digits as needed
  };
  std::string key = {};   // "aligned_bytes", as in JSON
  std::string title = {}; // "Aligned", as in text
  Kind kind = Kind::text;
  bool in_text = true, in_data = true; // which formats show it
};

// A row of a table, valid until the next one.
class Row {
public:
  std::size_t size() const; // equals the number of columns
  Value operator[](std::size_t column) const;
  Value operator[](std::string_view key) const; // by column key; throws NotFound if there is none

private:
  friend struct AnswerParts;
  Row(const void *row, const void *table) : row_(row), table_(table) {}
  const void *row_, *table_;
};

// A table of an answer, valid as long as the answer.
class Table {
public:
  const std::string &name() const; // key in JSON
  const std::string &title() const;
  std::vector<Column> columns() const;
  std::optional<std::uint64_t> row_count() const; // nullopt if unknown before the rows are read
  bool in_text() const;                           // true: text shows the table; in_data(): JSON and CSV do
  bool in_data() const;
  const std::vector<std::string> &notes() const; // for people: how to read the table
  // `visit` returns false to stop. Throws Error as verbs do.
  void for_each_row(const std::function<bool(const Row &)> &visit) const;

private:
  friend struct AnswerParts;
  explicit Table(const void *table) : table_(table) {}
  const void *table_;
};

struct WriteOptions {
  std::uint64_t top = 0;  // most rows of each table; 0 = all
  bool exact = false;     // text: bytes as digits
  bool verbose = false;   // text: every gap
  std::string table = {}; // write only the table of this name; empty = all (CSV: the first)
  unsigned threads = 0;   // threads that format large tables in JSON and CSV; 0 = one per processor
  // The rest is for text only. The library does not ask the terminal; use terminal_width() of dnheap/program.h.
  std::uint64_t width = 0; // widest table line: names are shortened, rows folded; 0 = no limit
  bool full_names = false; // do not shorten names; lines may exceed `width`
  bool wrap = false;       // break sentences outside of tables, too, between words at this width
  bool color = false;      // headings and warnings use terminal escapes
};

struct Format {
  const char *name;          // "text", "json", "csv", "markdown", "junit", "github", "addresses"
  std::uint64_t default_top; // a suitable number of rows; 0 = all
  bool tells_completeness;   // false: the caller has to show Answer::unsaid() elsewhere
  const char *table;         // the table that an answer needs for this format: "checks", "objects"; null: none
};
std::vector<Format> formats();

class Progress;

class Answer {
public:
  Answer(Answer &&) noexcept;
  Answer &operator=(Answer &&) noexcept;
  ~Answer();

  const std::string &command() const;                       // the verb
  const std::string &headline() const;                      // what was examined, how complete it is
  const std::string &lead() const;                          // the first sentences: what ended the process; empty: none
  const std::string &next_command() const;                  // a dnheap command line; empty: none
  std::vector<std::pair<std::string, Value>> facts() const; // of the target
  std::optional<Completeness> completeness() const;         // nullopt: the answer does not depend on a heap
  std::uint64_t exceeded() const;                           // number of limits of `check` that are exceeded
  std::uint64_t uncertain() const;                          // limits that hold as far as the heap could be read
  std::uint64_t unmatched() const;                          // limits for a type or an owner that is not in the dump
  // Returns in one line what is missing in the answer, for formats that do not show it; empty if the answer is complete
  // and has no notes.
  std::string unsaid() const;
  std::vector<Table> tables() const;        // the main one first
  Table table(std::string_view name) const; // throws NotFound if there is none

  // Throw NotFound if there is no such table, UsageError if there is no such format, Error if writing fails. `name`
  // appears in that error: "standard output". write() returns false if the reader has closed the pipe.
  bool write(std::string_view format, const WriteOptions &options, std::FILE *to, const std::string &name,
             Progress *progress = nullptr) const;
  std::string text(std::string_view format, const WriteOptions &options = {}) const;

private:
  friend struct AnswerParts;
  struct Inside;
  explicit Answer(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

} // namespace dnheap::DNHEAP_ABI
