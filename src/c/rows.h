// Rows: the object behind a dnheap_rows: a kind of row, and the source of the next one. Keeps its Opened alive. Its
// members may be used on the thread of that Opened only.
#pragma once
#include "c/opened.h"

#include <deque>

namespace dnheap::c {

class Rows {
public:
  virtual ~Rows() = default;
  // Writes up to `capacity` rows of `row_size` bytes; returns how many: fewer only at the end.
  virtual std::size_t fill(std::byte *to, std::size_t row_size, std::size_t capacity) = 0;
  virtual std::size_t smallest_row() const = 0;
};

// For rows declared in the header as Row, whose first version had `first_version` bytes: programs built with that one
// must keep working.
template <class Row, std::size_t first_version> class RowsOf : public Rows {
  static_assert(sizeof(Row) >= first_version);

public:
  explicit RowsOf(Snapshot &of) : snapshot(of) {}

  std::size_t fill(std::byte *to, std::size_t row_size, std::size_t capacity) final {
    texts_.clear();
    for (std::size_t i = 0; i < capacity; ++i, to += row_size) {
      Row row{};
      if (!next(row))
        return i;
      const std::size_t known = std::min(row_size, sizeof row);
      std::memcpy(to, &row, known);
      std::memset(to + known, 0, row_size - known);
    }
    return capacity;
  }
  std::size_t smallest_row() const final { return first_version; }

protected:
  virtual bool next(Row &row) = 0;
  // Keeps a text alive until the next fill().
  const char *keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

  Snapshot &snapshot;

private:
  std::deque<std::string> texts_;
};

} // namespace dnheap::c
