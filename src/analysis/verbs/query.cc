// `query`: questions in SQL about the open dump, as read-only virtual tables (analysis/sql/heap_tables.h). Rows stream.
// Only SELECT is allowed.
#include "analysis/answer_head.h"
#include "analysis/sql/heap_tables.h"
#include "analysis/sql/oql.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"

#include <chrono>
#include <set>
#include <sqlite3.h>

namespace dnheap {

namespace {

using report::Kind;

// One step of SQLite's machine may process a whole text, and cannot be interrupted: so texts are short, and checks are
// frequent.
constexpr int longest_text = 1 << 20, longest_query = 1 << 20; // bytes
constexpr int steps_between_looks = 100;

int only_reads(void *, int action, const char *, const char *function, const char *, const char *) {
  switch (action) {
  case SQLITE_SELECT:
  case SQLITE_READ:
  case SQLITE_RECURSIVE: return SQLITE_OK;
  case SQLITE_FUNCTION: return function && std::string_view(function) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
  default: return SQLITE_DENY;
  }
}

class Session {
public:
  Session(const Snapshot &snapshot, const Question &question)
      : snapshot_(snapshot), limit_(question.limit), timeout_(question.timeout), tables_(snapshot, question.values) {
    if (sqlite3_open_v2(":memory:", &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        nullptr) != SQLITE_OK) {
      sqlite3_close(database_);
      throw std::bad_alloc();
    }
    tables_.add_to(database_, "");
    // SQLite's own table functions also declare their columns when they are first named, which is forbidden below.
    for (const char *table : {"json_each", "json_tree"}) {
      sqlite3_stmt *named = nullptr;
      sqlite3_prepare_v2(database_, (std::string("select 1 from ") + table + "('[]')").c_str(), -1, &named, nullptr);
      sqlite3_finalize(named);
    }
    sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, longest_text);
    sqlite3_limit(database_, SQLITE_LIMIT_SQL_LENGTH, longest_query);
    sqlite3_limit(database_, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_set_authorizer(database_, only_reads, nullptr);
    sqlite3_progress_handler(
        database_, steps_between_looks, [](void *of) { return static_cast<Session *>(of)->should_end() ? 1 : 0; },
        this);
    try {
      prepare(question.subject);
    } catch (...) {
      close();
      throw;
    }
  }
  ~Session() { close(); }
  Session(const Session &) = delete;

  // Takes the first row before the columns, because it shows the types of computed columns.
  std::vector<report::Column> columns() {
    has_row_ = step();
    std::vector<report::Column> out;
    std::set<std::string> taken;
    for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
      const char *known = sqlite3_column_name(statement_, i);
      const std::string name = known && *known ? known : "column";
      std::string key = name;
      for (u64 n = 2; !taken.insert(key).second; ++n)
        key = name + "_" + std::to_string(n);
      out.push_back({key, key, kind_of(i)});
    }
    return out;
  }

  bool next(report::Row &row) {
    if (!has_row_ || (limit_ && rows_ == *limit_)) {
      if (snapshot_.has_lost_memory())
        throw Error(snapshot_.target().path + ": part of it was lost meanwhile; copy it to a sound disk first");
      return false;
    }
    for (int i = 0; i < sqlite3_column_count(statement_); ++i)
      switch (sqlite3_column_type(statement_, i)) {
      case SQLITE_INTEGER: {
        const i64 value = sqlite3_column_int64(statement_, i);
        row[static_cast<u64>(i)] =
            value < 0 && addresses_.count(i) == 0 ? report::Cell(value) : report::Cell(static_cast<u64>(value));
        break;
      }
      case SQLITE_FLOAT: row[static_cast<u64>(i)] = report::Cell(sqlite3_column_double(statement_, i)); break;
      case SQLITE_NULL: break;
      case SQLITE_BLOB: { // written as in SQL
        const auto *bytes = static_cast<const u8 *>(sqlite3_column_blob(statement_, i));
        row[static_cast<u64>(i)] = "x'" + hex_bytes(bytes, static_cast<u64>(sqlite3_column_bytes(statement_, i))) + "'";
        break;
      }
      default: {
        const void *text = sqlite3_column_blob(statement_, i);
        row[static_cast<u64>(i)] = std::string(static_cast<const char *>(text),
                                               text ? static_cast<u64>(sqlite3_column_bytes(statement_, i)) : 0);
      }
      }
    ++rows_;
    has_row_ = (limit_ && rows_ == *limit_) || step();
    return true;
  }

private:
  using Clock = std::chrono::steady_clock;

  bool should_end() {
    const Progress *progress = snapshot_.watch().progress;
    const auto took = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began_);
    is_late_ = timeout_ && static_cast<u64>(took.count()) >= timeout_;
    return is_late_ || (progress && progress->cancel.load(std::memory_order_relaxed));
  }

  void close() {
    sqlite3_finalize(statement_);
    sqlite3_close(database_);
    statement_ = nullptr, database_ = nullptr;
  }

  void prepare(const std::string &text) {
    tables_.set_question(text);
    const char *rest = nullptr;
    const int result = sqlite3_prepare_v2(
        database_, text.c_str(), static_cast<int>(std::min<u64>(text.size() + 1, longest_query)), &statement_, &rest);
    tables_.throw_error();
    if (result == SQLITE_AUTH)
      throw UsageError("query: only SELECT is allowed: the dump is not changed, and nothing else is opened");
    if (result != SQLITE_OK)
      throw UsageError("query: " + printable(sqlite3_errmsg(database_)) + instead_of_oql(text));
    if (!statement_)
      throw UsageError(
          "query: a SELECT statement is needed, for example \"select name, count from types order by bytes desc\"");
    if (sqlite3_stmt *more = nullptr; sqlite3_prepare_v2(database_, rest, -1, &more, nullptr) != SQLITE_OK || more) {
      sqlite3_finalize(more);
      throw UsageError("query: one question at a time, but another one follows ';'");
    }
  }

  bool step() {
    const int result = sqlite3_step(statement_);
    tables_.throw_error();
    if (result == SQLITE_ROW)
      return true;
    if (result == SQLITE_DONE)
      return false;
    if (result == SQLITE_INTERRUPT && is_late_)
      throw Error("query: it takes longer than the " + count_text(timeout_) + " s that it was given");
    if (result == SQLITE_INTERRUPT)
      throw Interrupted();
    if (result == SQLITE_NOMEM)
      throw std::bad_alloc();
    throw UsageError("query: " + printable(sqlite3_errmsg(database_)));
  }

  Kind kind_of(int column) {
    const char *declared = sqlite3_column_decltype(statement_, column);
    const std::string_view type = declared ? declared : "";
    if (type == "ADDRESS") {
      addresses_.insert(column);
      return Kind::address;
    }
    if (type.empty() && has_row_)
      return sqlite3_column_type(statement_, column) == SQLITE_TEXT ||
                     sqlite3_column_type(statement_, column) == SQLITE_BLOB
                 ? Kind::text
                 : Kind::real;
    return type == "TEXT" ? Kind::text : Kind::real;
  }

  const Snapshot &snapshot_;
  const std::optional<u64> limit_;
  const u64 timeout_; // seconds; 0: none
  const Clock::time_point began_ = Clock::now();
  bool is_late_ = false;
  HeapTables tables_; // outlives the database
  sqlite3 *database_ = nullptr;
  sqlite3_stmt *statement_ = nullptr;
  std::set<int> addresses_;
  bool has_row_ = false;
  u64 rows_ = 0;
};

} // namespace

Plan plan_query(const Question &) {
  Plan plan{Passes(Pass::index)};
  plan.perhaps(Pass::dominators | Pass::graph).perhaps("mark").perhaps("referrers");
  perhaps_ranked(plan);
  return plan;
}

report::Answer answer_query(const Snapshot &snapshot, const Question &asked) {
  Question question = asked;
  question.values &= !snapshot.target().has_blanked_values();
  report::Answer answer = begin_answer(snapshot, "query");
  auto session = std::make_shared<Session>(snapshot, question);
  report::Table table;
  table.name = "rows";
  table.columns = session->columns();
  table.has_long_texts = true;
  table.rows = [session](report::Row &row) { return session->next(row); };
  answer.tables.push_back(std::move(table));
  if (asked.values && snapshot.target().has_blanked_values())
    answer.completeness->notes.add("there are no values: " + snapshot.target().why_no_values());
  add_name_notes(snapshot, answer);
  return answer;
}

} // namespace dnheap
