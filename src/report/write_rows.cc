#include "base/parallel.h"
#include "report/write.h"

#include <array>
#include <exception>
#include <functional>

namespace dnheap::report {

namespace {

constexpr u64 piece_rows = 1024, pieces = 16; // formatted by one thread at a time; of a batch
constexpr u64 most_text = 16 << 20;           // bytes in a batch's rows, where these may be long

// Rows that were pulled one after the other, and what becomes of them. Memory: some MiB, whatever the table.
struct Batch {
  std::vector<Row> rows; // used again; as many as were ever needed
  u64 count = 0, text = 0;
  bool is_first = false; // of the table
  std::array<std::string, pieces> texts;

  bool is_full() const { return count == piece_rows * pieces || text > most_text; }
  u64 piece_count() const { return (count + piece_rows - 1) / piece_rows; }
};

u64 text_in(const Row &row) {
  u64 out = 0;
  for (const Cell &cell : row)
    out += cell.text().value_or("").size();
  return out;
}

} // namespace

// While one batch is formatted, piece by piece, the next one is pulled. An error of the source counts when what came
// before it has been written.
void write_rows(const Table &table, const WriteOptions &options, Sink &sink,
                const std::function<void(std::string &out, const Row &row, bool is_first)> &format) {
  Rows source(table, options);
  std::array<Batch, 2> batches;
  std::exception_ptr error;
  auto pull = [&](Batch &batch) {
    batch.is_first = source.count() == 0;
    batch.count = batch.text = 0;
    try {
      while (!error && !batch.is_full()) {
        if (batch.count == batch.rows.size())
          batch.rows.emplace_back();
        if (!source.next(batch.rows[batch.count]))
          break;
        if (table.has_long_texts)
          batch.text += text_in(batch.rows[batch.count]);
        ++batch.count;
      }
    } catch (...) {
      error = std::current_exception();
    }
  };
  auto format_piece = [&](Batch &batch, u64 piece) {
    std::string &out = batch.texts[piece];
    out.clear();
    for (u64 i = piece * piece_rows, end = std::min(batch.count, i + piece_rows); i < end; ++i)
      format(out, batch.rows[i], batch.is_first && i == 0);
  };
  pull(batches[0]);
  for (u64 number = 0; batches[number % 2].count; ++number) {
    Batch &here = batches[number % 2], &next = batches[(number + 1) % 2];
    const bool is_last = !here.is_full();
    if (is_last)
      next.count = next.text = 0;
    parallel_for(here.piece_count() + !is_last, here.count > piece_rows ? options.threads : 1, [&](u64 i, unsigned) {
      if (!is_last && i == 0)
        pull(next);
      else
        format_piece(here, i - !is_last);
    });
    for (u64 i = 0; i < here.piece_count(); ++i)
      sink.write(here.texts[i]);
  }
  if (error)
    std::rethrow_exception(error);
}

} // namespace dnheap::report
