// The writers: each has one file, and one row in writers(). A writer only sees an Answer and a Sink. It needs the
// memory of one block of rows, however long a table is. Writing consumes the sources of streamed tables.
#pragma once
#include "base/watch.h"
#include "report/answer.h"
#include "report/sink.h"

#include <functional>
#include <span>

namespace dnheap::report {

struct WriteOptions {
  u64 top = 0;          // most rows of each table; 0 = all
  bool exact = false;   // text: bytes as digits
  bool verbose = false; // text: shows every gap
  std::string table;    // only this one; empty = all (CSV: the first)
  unsigned threads = 1; // threads that format long tables, in data formats
  Watch watch;          // cancelled: throws Interrupted between two rows
  // The rest is for text only. The caller sets it: no writer asks the terminal.
  u64 width = 0;           // widest table line: names are shortened, rows folded; 0 = no limit
  bool full_names = false; // do not shorten names; lines may exceed `width`
  bool wrap = false;       // also break sentences outside of tables, between words, at `width`
  bool color = false;      // headings and warnings use terminal escapes
};

struct Writer {
  const char *name;        // the word for --format
  u64 default_top;         // rows of a table if the user gives no number; 0 = all
  bool tells_completeness; // false: the format has no place for it, so the caller has to show unsaid() elsewhere
  const char *table;       // the table that an answer needs for this format; null: none
  void (*write)(const Answer &answer, const WriteOptions &options, Sink &sink);
};

// Returns the statement about completeness in one line; empty if the answer is complete and has no notes.
std::string unsaid(const Answer &answer);

std::span<const Writer> writers();
const Writer *find_writer(std::string_view name);

// Throw the errors of the Sink and the row sources, and NotFound if the answer has no table with the requested name.
// Flush.
void write_text(const Answer &answer, const WriteOptions &options, Sink &sink);
void write_json(const Answer &answer, const WriteOptions &options, Sink &sink);
void write_ndjson(const Answer &answer, const WriteOptions &options, Sink &sink); // one line
void write_csv(const Answer &answer, const WriteOptions &options, Sink &sink);
void write_markdown(const Answer &answer, const WriteOptions &options, Sink &sink);
// For answers with a table `checks`; UsageError if there is none.
void write_junit(const Answer &answer, const WriteOptions &options, Sink &sink);
void write_github(const Answer &answer, const WriteOptions &options, Sink &sink);
// For answers with a table `objects`; NotFound if there is none.
void write_addresses(const Answer &answer, const WriteOptions &options, Sink &sink);

// For answers with a table `stacks` whose rows have lists of methods; NotFound if there is none.
void write_folded(const Answer &answer, const WriteOptions &options, Sink &sink);
void write_speedscope(const Answer &answer, const WriteOptions &options, Sink &sink);

// For writers of data formats: writes each row of the table (at most options.top) as `format` appends it, in order.
// `is_first`: the first row of the table. For long tables, threads take turns at pulling some rows, and each formats
// its rows while others pull, so all threads call `format`. `left_out_some` receives whether the table has more than
// options.top rows; if it is null, no further row is pulled to find out.
void write_rows(const Table &table, const WriteOptions &options, Sink &sink,
                const std::function<void(std::string &out, const Row &row, bool is_first)> &format,
                bool *left_out_some = nullptr);

// For writers: the tables to write for that kind of reader. Class Rows: a table's rows, at most options.top.
std::vector<const Table *> tables_to_write(const Answer &answer, const WriteOptions &options, Shown reader);

class Rows {
public:
  Rows(const Table &table, const WriteOptions &options);
  // Returns the next row, or null at the end; valid until the next call.
  const Row *next();
  // Puts the next row into the caller's; returns false at the end.
  bool next(Row &row);
  // To be called after next() returned null: returns true if there were more rows than options.top. Pulls one row to
  // find out, unless the table knows how many it has.
  bool left_out_some();
  u64 count() const { return count_; }

private:
  bool pull(Row &row);

  const Table &table_;
  const WriteOptions &options_;
  const u64 top_;
  Row row_;
  u64 count_ = 0;
};

} // namespace dnheap::report
