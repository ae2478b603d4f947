#include "base/parallel.h"
#include "report/write.h"

#include <condition_variable>
#include <exception>
#include <mutex>

namespace dnheap::report {

namespace {

constexpr u64 piece_rows = 512;         // so that a piece's rows stay in the cache of the processor that pulled them
constexpr u64 most_text = u64{1} << 20; // bytes in a piece's rows, where these may be long

u64 text_in(const Row &row) {
  u64 out = 0;
  for (const Cell &cell : row)
    out += cell.text().value_or("").size();
  return out;
}

// Rows that were pulled one after the other, and what becomes of them. Used again for the next ones.
struct Piece {
  std::vector<Row> rows;
  u64 count = 0; // of rows, from the first one
  u64 number = 0;
  std::string text;
};

// Who pulls a piece formats it, too, while another one pulls the next; then it waits for its turn to write. That ends,
// as each piece before it is in the hands of a thread that is at work.
class OrderedRows {
public:
  using Format = std::function<void(std::string &out, const Row &row, bool is_first)>;
  OrderedRows(const Table &table, const WriteOptions &options, Sink &sink, const Format &format)
      : source_(table, options), has_long_texts_(table.has_long_texts), sink_(sink), format_(format) {}

  // False: there are no more.
  bool do_next(Piece &piece) {
    if (!pull(piece))
      return false;
    piece.text.clear();
    try {
      for (u64 i = 0; i < piece.count; ++i)
        format_(piece.text, piece.rows[i], piece.number == 0 && i == 0);
      write(piece);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      has_failed_ = true;
      turn_came_.notify_all();
      throw;
    }
    return true;
  }
  bool has_ended() const { return has_ended_; } // before other threads pull, too
  // An error of the source counts when what came before it has been written.
  void end() {
    if (error_)
      std::rethrow_exception(error_);
  }

private:
  bool pull(Piece &piece) {
    const std::lock_guard lock(source_mutex_);
    piece.count = 0;
    piece.number = pieces_;
    u64 text = 0;
    try {
      while (!has_ended_ && piece.count < piece_rows && text <= most_text) {
        if (piece.count == piece.rows.size())
          piece.rows.emplace_back();
        Row &row = piece.rows[piece.count];
        has_ended_ = !source_.next(row);
        if (has_ended_)
          break;
        if (has_long_texts_)
          text += text_in(row);
        ++piece.count;
      }
    } catch (...) {
      error_ = std::current_exception();
      has_ended_ = true;
    }
    pieces_ += piece.count != 0;
    return piece.count != 0;
  }
  void write(const Piece &piece) {
    {
      std::unique_lock lock(mutex_);
      turn_came_.wait(lock, [&] { return turn_ == piece.number || has_failed_; });
      if (has_failed_)
        return;
    }
    sink_.write(piece.text);
    const std::lock_guard lock(mutex_);
    turn_ = piece.number + 1;
    turn_came_.notify_all();
  }

  std::mutex source_mutex_; // of what follows
  Rows source_;
  u64 pieces_ = 0;
  bool has_ended_ = false;
  std::exception_ptr error_;

  const bool has_long_texts_;
  Sink &sink_; // whose turn it is writes
  const Format &format_;

  std::mutex mutex_; // of what follows
  std::condition_variable turn_came_;
  u64 turn_ = 0; // the piece that is to be written next
  bool has_failed_ = false;
};

} // namespace

void write_rows(const Table &table, const WriteOptions &options, Sink &sink,
                const std::function<void(std::string &out, const Row &row, bool is_first)> &format) {
  OrderedRows rows(table, options, sink, format);
  Piece first;
  if (rows.do_next(first) && !rows.has_ended()) // as a rule it has: most tables are not worth threads
    parallel_for(std::max(options.threads, 1u), options.threads, [&](u64, unsigned) {
      for (Piece piece; rows.do_next(piece);) {
      }
    });
  rows.end();
}

} // namespace dnheap::report
