// The rows of one of the HeapTables: a cursor that SQLite moves. For heap_tables.cc.
#pragma once
#include "analysis/sql/heap_tables.h"
#include "objects/references.h"

#include <memory>
#include <optional>
#include <string_view>

struct sqlite3_context;

namespace dnheap {

class SqlRows {
public:
  virtual ~SqlRows() = default;
  // Moves to the first of all rows (column < 0), or to the first row with that value in a column that has a look-up.
  virtual void begin(int column, i64 value) = 0;
  virtual void next() = 0;
  virtual bool at_end() const = 0;
  // Sets the value of a column in the present row; a column that is not set is null.
  virtual void fill(sqlite3_context *context, int column) = 0;
  virtual i64 row_id() const = 0;
};

struct SqlTable {
  const char *name, *columns;
  u32 look_up = 0; // a bit per column: equality with it is a look-up
  u64 rows_per_object = 1;
  bool needs_look_up = false; // has no rows but for a value of the first column
  std::unique_ptr<SqlRows> (*rows)(HeapTables &tables) = nullptr;
};

void set_cell(sqlite3_context *context, std::string_view text);
void set_cell(sqlite3_context *context, u64 number);

std::unique_ptr<SqlRows> rows_of_types(HeapTables &tables);
std::unique_ptr<SqlRows> rows_of_objects(HeapTables &tables);
std::unique_ptr<SqlRows> rows_of_refs(HeapTables &tables);
std::unique_ptr<SqlRows> rows_of_roots(HeapTables &tables);
std::unique_ptr<SqlRows> rows_of_owners(HeapTables &tables);
std::unique_ptr<SqlRows> rows_of_dominators(HeapTables &tables);
std::unique_ptr<SqlRows> rows_of_plain_dominators(HeapTables &tables);
std::unique_ptr<SqlRows> rows_of_entries(HeapTables &tables);
std::unique_ptr<SqlRows> rows_of_strings(HeapTables &tables);
std::unique_ptr<SqlRows> rows_of_meta(HeapTables &tables);

} // namespace dnheap
