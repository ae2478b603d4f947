#include "report/stored_rows.h"

#include "base/host/host.h"

#include <cstring>
#include <memory>
#include <unordered_map>

namespace dnheap::report {

namespace {

constexpr u64 most_in_memory = 10000; // rows of a table
constexpr u64 block_size = 1 << 20;   // written at a time

enum class Tag : u8 { absent, no, yes, number, integer, fraction, text };

struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};

// Rows in a file, cell by cell: a tag, then eight bytes if the tag has a value. Texts are numbered.
class RowFile {
public:
  RowFile(const std::string &folder, u64 columns) : file_(folder, "the rows of the answer"), columns_(columns) {}

  // Returns false if a cell is a list or an object, which the file cannot store.
  static bool takes(const Row &row) {
    for (const Cell &cell : row)
      if (cell.get_if<std::vector<Cell>>() || cell.get_if<std::vector<Fact>>())
        return false;
    return true;
  }

  void add(const Row &row) {
    for (const Cell &cell : row)
      put(cell);
    ++rows_;
    if (pending_.size() >= block_size)
      flush();
  }

  void finish() {
    flush();
    mapped_ = file_.map();
  }

  bool next(Row &row) {
    if (rows_ == 0)
      return false;
    --rows_;
    for (u64 i = 0; i < columns_; ++i)
      row[i] = take();
    return true;
  }

private:
  void put(Tag tag) { pending_.push_back(static_cast<std::byte>(tag)); }
  template <class T> void put(Tag tag, T value) {
    static_assert(sizeof value == 8);
    put(tag);
    const std::byte *bytes = reinterpret_cast<const std::byte *>(&value);
    pending_.insert(pending_.end(), bytes, bytes + sizeof value);
  }

  void put(const Cell &cell) {
    if (const bool *value = cell.get_if<bool>())
      put(*value ? Tag::yes : Tag::no);
    else if (const u64 *value = cell.get_if<u64>())
      put(Tag::number, *value);
    else if (const i64 *value = cell.get_if<i64>())
      put(Tag::integer, *value);
    else if (const double *value = cell.get_if<double>())
      put(Tag::fraction, *value);
    else if (std::optional<std::string_view> text = cell.text())
      put(Tag::text, number_of(*text));
    else
      put(Tag::absent);
  }

  u64 number_of(std::string_view text) {
    auto it = numbers_.find(text);
    if (it == numbers_.end()) {
      it = numbers_.emplace(text, texts_.size()).first;
      texts_.push_back(&it->first);
    }
    return it->second;
  }

  Cell take() {
    const Tag tag{std::to_integer<u8>(mapped_->bytes()[at_++])};
    auto value = [&]<class T>(T out) {
      std::memcpy(&out, mapped_->bytes().data() + at_, sizeof out);
      at_ += sizeof out;
      return out;
    };
    switch (tag) {
    case Tag::absent: return {};
    case Tag::no: return false;
    case Tag::yes: return true;
    case Tag::number: return value(u64{});
    case Tag::integer: return value(i64{});
    case Tag::fraction: return value(double{});
    case Tag::text: return Cell::borrowed(*texts_[value(u64{})]);
    }
    return {};
  }

  void flush() {
    file_.write(pending_);
    pending_.clear();
  }

  TemporaryFile file_;
  const u64 columns_;
  std::shared_ptr<const MappedFile> mapped_;
  std::vector<std::byte> pending_;
  u64 rows_ = 0, at_ = 0;
  std::unordered_map<std::string, u64, TextHash, std::equal_to<>> numbers_; // its keys never move
  std::vector<const std::string *> texts_;
};

void own(Row &row) {
  for (Cell &cell : row)
    if (const std::string_view *text = cell.get_if<std::string_view>())
      cell = Cell(std::string(*text));
}

RowSource stored(const Table &table, u64 most, const std::string &temp_dir, const Watch &watch) {
  std::vector<Row> first;
  std::shared_ptr<RowFile> file;
  Row row(table.columns.size());
  for (u64 count = 0; count < most && table.rows(row); ++count) {
    watch.check();
    if (!file && first.size() >= most_in_memory && RowFile::takes(row))
      file = std::make_shared<RowFile>(temp_dir, table.columns.size());
    if (file) {
      if (!RowFile::takes(row))
        throw Error("a row of table " + table.name + " cannot be stored");
      file->add(row);
    } else {
      own(row);
      first.push_back(std::move(row));
    }
    row.assign(table.columns.size(), Cell());
  }
  if (!file)
    return rows_of(std::move(first));
  file->finish();
  return [rows = rows_of(std::move(first)), file](Row &out) { return rows(out) || file->next(out); };
}

} // namespace

void store_rows(Answer &answer, u64 top, const std::string &temp_dir, const Watch &watch) {
  Timer timer(watch, "rows");
  for (Table &table : answer.tables)
    if (table.rows)
      table.rows = stored(table, top && !table.whole ? top + 1 : ~u64{0}, temp_dir, watch);
}

} // namespace dnheap::report
