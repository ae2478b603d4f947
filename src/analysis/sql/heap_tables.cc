#include "analysis/sql/heap_tables.h"

#include "analysis/export/exporter.h"
#include "analysis/sql/row_source.h"
#include "base/error.h"
#include "objects/object_index.h"

#include <sqlite3.h>

namespace dnheap {

namespace {

constexpr const char *columns_of_dominators =
    "object ADDRESS, dominator ADDRESS, owner TEXT, retained_bytes INTEGER, retained_objects INTEGER";

// Types of columns are SQLite's, except ADDRESS, which makes `query` write a number as an address.
constexpr SqlTable all_tables[] = {
    {.name = "types",
     .columns = "id INTEGER, name TEXT, method_table ADDRESS, assembly TEXT, count INTEGER, bytes INTEGER, "
                "aligned_bytes INTEGER",
     .look_up = 1,
     .rows_per_object = 0,
     .rows = rows_of_types},
    {.name = "objects",
     .columns = "address ADDRESS, type INTEGER, bytes INTEGER, aligned_bytes INTEGER, generation TEXT, reached INTEGER",
     .look_up = 1,
     .rows = rows_of_objects},
    {.name = "refs",
     .columns = "source ADDRESS, target ADDRESS, field TEXT, element INTEGER",
     .look_up = 3,
     .rows_per_object = 3,
     .rows = rows_of_refs},
    {.name = "roots", .columns = "kind TEXT, owner TEXT, object ADDRESS", .rows_per_object = 0, .rows = rows_of_roots},
    {.name = "owners",
     .columns = "owner TEXT, kind TEXT, rank TEXT, retained_bytes INTEGER, retained_objects INTEGER",
     .rows_per_object = 0,
     .rows = rows_of_owners},
    {.name = "dominators", .columns = columns_of_dominators, .look_up = 1, .rows = rows_of_dominators},
    {.name = "plain_dominators", .columns = columns_of_dominators, .look_up = 1, .rows = rows_of_plain_dominators},
    {.name = "strings", .columns = "object ADDRESS, length INTEGER, value TEXT", .look_up = 1, .rows = rows_of_strings},
    {.name = "entries",
     .columns = "collection ADDRESS, position INTEGER, key, key_object ADDRESS, value, value_object ADDRESS",
     .look_up = 1,
     .needs_look_up = true,
     .rows = rows_of_entries},
    {.name = "meta", .columns = "key TEXT, value TEXT", .rows_per_object = 0, .rows = rows_of_meta},
};

struct VirtualTable : sqlite3_vtab {
  HeapTables *tables = nullptr;
  const SqlTable *row = nullptr;
};
struct Cursor : sqlite3_vtab_cursor {
  std::unique_ptr<SqlRows> rows;
};
// Data for the functions of a module.
struct Known {
  HeapTables *tables;
  const SqlTable *row;
};

// SQLite is written in C: no exception may pass through it.
template <class Do> int guarded(HeapTables &tables, Do body) {
  try {
    body();
    return SQLITE_OK;
  } catch (...) {
    tables.keep_error();
    return SQLITE_ERROR;
  }
}
HeapTables &tables_of(sqlite3_vtab_cursor *cursor) { return *static_cast<VirtualTable *>(cursor->pVtab)->tables; }

int connect(sqlite3 *database, void *known, int, const char *const *, sqlite3_vtab **out, char **) {
  const auto &of = *static_cast<const Known *>(known);
  const std::string text = std::string("CREATE TABLE t(") + of.row->columns + ")";
  if (int error = sqlite3_declare_vtab(database, text.c_str()))
    return error;
  return guarded(*of.tables, [&] {
    auto table = std::make_unique<VirtualTable>();
    table->tables = of.tables;
    table->row = of.row;
    *out = table.release();
  });
}
int disconnect(sqlite3_vtab *table) {
  delete static_cast<VirtualTable *>(table);
  return SQLITE_OK;
}

bool is_address(const SqlTable &table, int column) {
  std::string_view columns = table.columns;
  for (; column > 0; --column)
    columns.remove_prefix(columns.find(',') + 1);
  return columns.substr(0, columns.find(',')).ends_with("ADDRESS");
}

[[noreturn]] void refuse_text() {
  throw UsageError("query: an address is a number: write 0x7f… without quotes around it");
}

// Refuses to compare an address with a text: a text never equals a number, so the result would be empty without a
// reason. Without a look-up, filter() does not see the other operand.
void check_constants([[maybe_unused]] const VirtualTable &of, [[maybe_unused]] sqlite3_index_info *info) {
#if SQLITE_VERSION_NUMBER >= 3038000
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto &one = info->aConstraint[i];
    const bool compares = one.op == SQLITE_INDEX_CONSTRAINT_EQ || one.op == SQLITE_INDEX_CONSTRAINT_NE ||
                          one.op == SQLITE_INDEX_CONSTRAINT_GT || one.op == SQLITE_INDEX_CONSTRAINT_GE ||
                          one.op == SQLITE_INDEX_CONSTRAINT_LT || one.op == SQLITE_INDEX_CONSTRAINT_LE;
    sqlite3_value *with = nullptr;
    if (!compares || one.iColumn < 0 || !is_address(*of.row, one.iColumn) ||
        sqlite3_vtab_rhs_value(info, i, &with) != SQLITE_OK || !with || sqlite3_value_type(with) != SQLITE_TEXT)
      continue;
    const char *bytes = reinterpret_cast<const char *>(sqlite3_value_text(with));
    const std::string text = bytes ? bytes : "";
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    if (!is_hex || of.tables->is_quoted(text))
      refuse_text();
  }
#endif
}

// A join that would give the value later is refused without an error, so that SQLite finds the order in which it is
// known.
int refuse_all_rows(const VirtualTable &table, const sqlite3_index_info &info) {
  for (int i = 0; i < info.nConstraint; ++i)
    if (info.aConstraint[i].iColumn == 0 && info.aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ)
      return SQLITE_CONSTRAINT;
  return guarded(*table.tables, [&] {
    throw UsageError(std::string("query: the table ") + table.row->name +
                     " needs the address of one object, or a join: from objects o join entries e on e.collection = "
                     "o.address where o.type = …");
  });
}

// The plan's number is 1 + the column that is looked up; 0: all rows.
int best_index(sqlite3_vtab *of, sqlite3_index_info *info) {
  const VirtualTable &table = *static_cast<VirtualTable *>(of);
  const double objects = static_cast<double>(table.tables->snapshot().index().count());
  info->estimatedCost = table.row->rows_per_object ? objects * static_cast<double>(table.row->rows_per_object) : 1000;
  info->estimatedRows = static_cast<sqlite3_int64>(info->estimatedCost);
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto &one = info->aConstraint[i];
    if (!one.usable || one.op != SQLITE_INDEX_CONSTRAINT_EQ || one.iColumn < 0 ||
        !(table.row->look_up >> one.iColumn & 1))
      continue;
    if (info->idxNum && info->idxNum <= one.iColumn + 1)
      continue; // the first column has the cheapest look-up
    for (int j = 0; j < info->nConstraint; ++j)
      info->aConstraintUsage[j].argvIndex = 0;
    info->aConstraintUsage[i].argvIndex = 1;
    info->idxNum = one.iColumn + 1;
    info->estimatedCost = one.iColumn == 0 ? 2 : 20;
    info->estimatedRows = one.iColumn == 0 ? 2 : 20;
  }
  if (table.row->needs_look_up && info->idxNum == 0)
    return refuse_all_rows(table, *info);
  return guarded(*table.tables, [&] { check_constants(table, info); });
}

int open(sqlite3_vtab *of, sqlite3_vtab_cursor **out) {
  VirtualTable &table = *static_cast<VirtualTable *>(of);
  return guarded(*table.tables, [&] {
    auto cursor = std::make_unique<Cursor>();
    cursor->rows = table.row->rows(*table.tables);
    *out = cursor.release();
  });
}
int close(sqlite3_vtab_cursor *cursor) {
  delete static_cast<Cursor *>(cursor);
  return SQLITE_OK;
}
int filter(sqlite3_vtab_cursor *cursor, int plan, const char *, int count, sqlite3_value **values) {
  return guarded(tables_of(cursor), [&] {
    const bool looks_up = plan > 0 && count > 0;
    if (looks_up && sqlite3_value_type(values[0]) == SQLITE_TEXT &&
        is_address(*static_cast<VirtualTable *>(cursor->pVtab)->row, plan - 1))
      refuse_text();
    // A value that is not an integer equals no address; SQLite compares the returned rows once more itself.
    static_cast<Cursor *>(cursor)->rows->begin(looks_up ? plan - 1 : -1, looks_up ? sqlite3_value_int64(values[0]) : 0);
  });
}
int next(sqlite3_vtab_cursor *cursor) {
  return guarded(tables_of(cursor), [&] { static_cast<Cursor *>(cursor)->rows->next(); });
}
int eof(sqlite3_vtab_cursor *cursor) { return static_cast<Cursor *>(cursor)->rows->at_end(); }
int column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int number) {
  return guarded(tables_of(cursor), [&] { static_cast<Cursor *>(cursor)->rows->fill(context, number); });
}
int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out) {
  *out = static_cast<Cursor *>(cursor)->rows->row_id();
  return SQLITE_OK;
}

// An eponymous module needs no CREATE; without xUpdate nothing can be written.
constexpr sqlite3_module module_functions = [] {
  sqlite3_module out{};
  out.xConnect = connect;
  out.xBestIndex = best_index;
  out.xDisconnect = disconnect;
  out.xOpen = open;
  out.xClose = close;
  out.xFilter = filter;
  out.xNext = next;
  out.xEof = eof;
  out.xColumn = column;
  out.xRowid = row_id;
  return out;
}();

} // namespace

const std::vector<std::string> &HeapTables::names() {
  static const std::vector<std::string> out = [] {
    std::vector<std::string> list;
    for (const SqlTable &table : all_tables)
      list.emplace_back(table.name);
    return list;
  }();
  return out;
}

void HeapTables::add_to(sqlite3 *database, const std::string &prefix) {
  for (const SqlTable &table : all_tables) {
    sqlite3_create_module_v2(database, (prefix + table.name).c_str(), &module_functions, new Known{this, &table},
                             [](void *known) { delete static_cast<Known *>(known); });
    // Compiled once now: later an authorizer may forbid the statement by which SQLite learns the columns.
    sqlite3_stmt *statement = nullptr;
    sqlite3_prepare_v2(
        database,
        ("select 1 from " + prefix + table.name + (table.needs_look_up ? " where collection = 0" : "")).c_str(), -1,
        &statement, nullptr);
    sqlite3_finalize(statement);
    throw_error();
  }
}

const std::vector<std::string> &HeapTables::types() {
  if (types_.empty())
    types_ = exported_type_names(snapshot_);
  return types_;
}
const ReferenceNames &HeapTables::reference_names() {
  if (!reference_names_)
    reference_names_ = std::make_unique<ReferenceNames>(snapshot_);
  return *reference_names_;
}
const HeldRoots &HeapTables::roots() {
  if (!roots_)
    roots_ = std::make_unique<HeldRoots>(snapshot_);
  return *roots_;
}
Holding &HeapTables::holding(bool is_plain) {
  std::unique_ptr<Holding> &out = is_plain ? plain_ : ranked_;
  if (!out) {
    Question question;
    question.plain = is_plain;
    out = std::make_unique<Holding>(snapshot_, question);
  }
  return *out;
}
const Referrers &HeapTables::referrers() {
  if (!referrers_)
    referrers_ = std::make_unique<Referrers>(snapshot_.graph().edges(), snapshot_.threads(), snapshot_.watch());
  return *referrers_;
}

} // namespace dnheap
