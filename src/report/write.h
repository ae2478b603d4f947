// The writers: one file each, one row each in writers(). A writer sees an Answer and a Sink, nothing else. Memory is
// that of one block of rows, whatever the length of a table; the sources of streamed tables are used up.
#pragma once
#include "base/watch.h"
#include "report/answer.h"
#include "report/sink.h"

#include <functional>
#include <span>

namespace dnheap::report {

struct WriteOptions {
  u64 top = 0;          // rows of each table at most; 0 = all
  bool exact = false;   // text: bytes as digits
  bool verbose = false; // text: every gap
  std::string table;    // only this one; empty = all (CSV: the first)
  unsigned threads = 1; // that rows of long tables are formatted by, in data formats
  Watch watch;          // cancelled: throws Interrupted between two rows
  // Text alone; nothing here asks a terminal.
  u64 width = 0;           // no line of a table is wider: names are shortened, rows folded; 0 = no limit
  bool full_names = false; // but names stay as they are, and make lines longer
  bool wrap = false;       // sentences outside of tables, too, are broken between words at this width
  bool color = false;      // headings and warnings with a terminal's escapes
};

struct Writer {
  const char *name;        // what --format asks for
  u64 default_top;         // rows of a table when the user does not say; 0 = all
  bool tells_completeness; // false: whoever writes has to say unsaid() elsewhere
  const char *table;       // what an answer must have to be written so; null: nothing
  void (*write)(const Answer &answer, const WriteOptions &options, Sink &sink);
};

// What the answer says of its completeness, in one line; empty: it is complete, and there are no notes.
std::string unsaid(const Answer &answer);

std::span<const Writer> writers();
const Writer *find_writer(std::string_view name);

// Throw what the Sink and the row sources throw, and NotFound when the answer has no table of the name asked for.
// Flush.
void write_text(const Answer &answer, const WriteOptions &options, Sink &sink);
void write_json(const Answer &answer, const WriteOptions &options, Sink &sink);
void write_ndjson(const Answer &answer, const WriteOptions &options, Sink &sink); // one line
void write_csv(const Answer &answer, const WriteOptions &options, Sink &sink);
void write_markdown(const Answer &answer, const WriteOptions &options, Sink &sink);
// Of answers with a table `checks`; UsageError where there is none.
void write_junit(const Answer &answer, const WriteOptions &options, Sink &sink);
void write_github(const Answer &answer, const WriteOptions &options, Sink &sink);
// Of answers with a table `objects`; NotFound where there is none.
void write_addresses(const Answer &answer, const WriteOptions &options, Sink &sink);

// For writers of data formats: each row of the table (at most options.top) as `format` appends it, in order.
// `is_first`: of the table. Of long tables, each thread pulls some rows, one thread at a time, and formats them while
// others pull the next; `format` is called by all of them. `left_out_some`: were there more
// than options.top? Null: nobody asks, and no row is pulled for it.
void write_rows(const Table &table, const WriteOptions &options, Sink &sink,
                const std::function<void(std::string &out, const Row &row, bool is_first)> &format,
                bool *left_out_some = nullptr);

// For writers: the tables to write for a reader of that kind, and a table's rows, at most options.top of them.
std::vector<const Table *> tables_to_write(const Answer &answer, const WriteOptions &options, Shown reader);

class Rows {
public:
  Rows(const Table &table, const WriteOptions &options);
  // The next row, or null at the end; valid until the next call.
  const Row *next();
  // The next row into one of the caller's; false: at the end.
  bool next(Row &row);
  // After next() returned null: were there more than asked for? Pulls one row to find out,
  // unless the table knows how many it has.
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
