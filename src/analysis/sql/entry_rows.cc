// The table `entries`: what is in collections. Only for collections whose address is known, one at a time.
#include "analysis/objects/entry_values.h"
#include "analysis/sql/row_source.h"
#include "base/error.h"

#include <sqlite3.h>

namespace dnheap {

namespace {

void set_address(sqlite3_context *context, Address address) {
  if (address)
    set_cell(context, address);
}

void set_value(sqlite3_context *context, const report::Cell &cell) {
  if (const auto text = cell.text())
    set_cell(context, *text);
  else if (const bool *truth = cell.get_if<bool>())
    sqlite3_result_int(context, *truth);
  else if (const u64 *number = cell.get_if<u64>())
    set_cell(context, *number);
  else if (const i64 *signed_number = cell.get_if<i64>())
    sqlite3_result_int64(context, *signed_number);
  else if (const double *real = cell.get_if<double>())
    sqlite3_result_double(context, *real);
}

class EntryRows final : public SqlRows {
public:
  explicit EntryRows(HeapTables &tables)
      : tables_(tables), reader_(tables.snapshot()), values_(tables.snapshot().runtime(), reader_) {}

  void begin(int column, i64 value) override {
    contents_ = {};
    position_ = 0;
    collection_ = column < 0 ? 0 : static_cast<Address>(value);
    if (is_object())
      contents_ = reader_.read(collection_);
    if (contents_.state == CollectionContents::State::blanked)
      throw UsageError("query: there are no entries of collections, as their numbers are values: " +
                       tables_.snapshot().target().why_no_values());
    cursor_.emplace(contents_.entries);
    is_end_ = !cursor_->next(entry_);
  }
  void next() override {
    if (++position_ % 4096 == 0)
      tables_.snapshot().watch().check();
    is_end_ = !cursor_->next(entry_);
  }
  bool at_end() const override { return is_end_; }
  i64 row_id() const override { return static_cast<i64>(position_); }

  void fill(sqlite3_context *context, int column) override {
    switch (column) {
    case 0: return set_address(context, collection_);
    case 1: return set_cell(context, position_);
    case 2: return set_value(context, values_.of(entry_.key, tables_.values()).value);
    case 3: return set_address(context, reader_.object_of(entry_.key));
    case 4: return set_value(context, values_.of(entry_.value, tables_.values()).value);
    default: return set_address(context, reader_.object_of(entry_.value));
    }
  }

private:
  bool is_object() const { return collection_ && tables_.snapshot().index().find(collection_) != no_object; }

  HeapTables &tables_;
  CollectionEntries reader_;
  EntryValues values_;
  Address collection_ = 0;
  CollectionContents contents_;
  std::optional<EntryList::Cursor> cursor_;
  CollectionEntry entry_;
  u64 position_ = 0;
  bool is_end_ = true;
};

} // namespace

std::unique_ptr<SqlRows> rows_of_entries(HeapTables &tables) { return std::make_unique<EntryRows>(tables); }

} // namespace dnheap
