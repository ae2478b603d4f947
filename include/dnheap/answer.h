// Answer: what a verb (dnheap/verb.h) says: facts, how complete it is, tables, as values or as text, JSON or CSV. Good
// as long as its Snapshot; one thread. Rows are pulled one by one and cost no memory, whatever the length of a table:
// so they come once, to whoever pulls them first, for_each_row() or write().
#pragma once
#include "dnheap/heap.h"

#include <cstdio>
#include <memory>

namespace dnheap::DNHEAP_ABI {

// One cell, or a part of it. A view: good until the next row, or as long as the Answer.
class Value {
public:
  enum class Kind : std::uint8_t { absent, boolean, integer, real, text, list, record };
  Kind kind() const;
  bool is_absent() const { return kind() == Kind::absent; }
  // Nothing where it is something else. number(): integers from 0 on, addresses too; real(): any number.
  std::optional<bool> boolean() const;
  std::optional<std::uint64_t> number() const;
  std::optional<double> real() const;
  std::optional<std::string_view> text() const;
  // Of lists and records; of anything else there are none.
  std::size_t size() const;
  Value operator[](std::size_t part) const;     // below size()
  std::string_view key(std::size_t part) const; // of records
  Value find(std::string_view key) const;       // absent: there is none

private:
  friend struct AnswerParts;
  explicit Value(const void *cell) : cell_(cell) {}
  const void *cell_;
};

struct Column {
  // How a column's cells are meant. Text writes a count as 46,077,786, bytes as 861.0 MiB, a number as plain digits; a
  // percent is held as a fraction. What changed has its sign in text: +869.0 MiB. A bar is a fraction drawn for people.
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
    real // any number, told in as many digits as it takes
  };
  std::string key = {};   // "aligned_bytes", as in JSON
  std::string title = {}; // "Aligned", as in text
  Kind kind = Kind::text;
  bool in_text = true, in_data = true; // which formats show it
};

// A row of a table, good until the next one.
class Row {
public:
  std::size_t size() const; // as many as there are columns
  Value operator[](std::size_t column) const;
  Value operator[](std::string_view key) const; // of a column; throws NotFound when there is none

private:
  friend struct AnswerParts;
  Row(const void *row, const void *table) : row_(row), table_(table) {}
  const void *row_, *table_;
};

// A table of an answer, good as long as that.
class Table {
public:
  const std::string &name() const; // key in JSON
  const std::string &title() const;
  std::vector<Column> columns() const;
  std::optional<std::uint64_t> row_count() const; // where it is known before the rows are pulled
  bool in_text() const;                           // which formats show it
  bool in_data() const;
  const std::vector<std::string> &notes() const; // for people: how to read it
  // False ends it. Throws Error as verbs do.
  void for_each_row(const std::function<bool(const Row &)> &visit) const;

private:
  friend struct AnswerParts;
  explicit Table(const void *table) : table_(table) {}
  const void *table_;
};

struct WriteOptions {
  std::uint64_t top = 0;  // rows of each table at most; 0 = all
  bool exact = false;     // text: bytes as digits
  bool verbose = false;   // text: every gap
  std::string table = {}; // only this one; empty = all (CSV: the first)
  unsigned threads = 0;   // that rows by the million are formatted by, in JSON and CSV; 0 = one per processor
  // Text alone. The library asks no terminal: terminal_width() of dnheap/program.h does.
  std::uint64_t width = 0; // no line of a table is wider: names are shortened, rows folded; 0 = no limit
  bool full_names = false; // but names stay as they are, and make lines longer
  bool wrap = false;       // sentences outside of tables, too, are broken between words at this width
  bool color = false;      // headings and warnings with a terminal's escapes
};

struct Format {
  const char *name;          // "text", "json", "csv", "markdown", "junit", "github", "addresses"
  std::uint64_t default_top; // rows that suit it; 0 = all
  bool tells_completeness;   // false: whoever writes has to say Answer::unsaid() elsewhere
  const char *table;         // what an answer must have to be written so: "checks", "objects"; null: nothing
};
std::vector<Format> formats();

class Progress;

class Answer {
public:
  Answer(Answer &&) noexcept;
  Answer &operator=(Answer &&) noexcept;
  ~Answer();

  const std::string &command() const;      // the verb
  const std::string &headline() const;     // what was looked at, how complete
  const std::string &lead() const;         // what it begins with, in words: what ended the process; empty for none
  const std::string &next_command() const; // of the program; empty for none
  std::vector<std::pair<std::string, Value>> facts() const; // of the target
  std::optional<Completeness> completeness() const;         // nothing: it rests on no heap
  std::uint64_t exceeded() const;                           // limits, of `check`
  std::uint64_t uncertain() const;                          // limits that are kept as far as could be read
  std::uint64_t unmatched() const;                          // limits of a type or an owner that nothing here is
  // What it says of its completeness, in one line; empty: it is complete, and there are no notes.
  std::string unsaid() const;
  std::vector<Table> tables() const;        // the main one first
  Table table(std::string_view name) const; // throws NotFound when there is none

  // Throw NotFound when there is no such table, UsageError when there is no such format, Error when it cannot be
  // written. `name` is for that error: "standard output". False: whoever reads it has closed the pipe.
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
