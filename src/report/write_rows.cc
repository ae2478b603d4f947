#include "base/parallel.h"
#include "report/write.h"

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>

namespace dnheap::report {

namespace {

constexpr u64 piece_rows = 512; // few enough that a piece's rows stay in the cache of the processor that pulled them
constexpr u64 most_text = u64{1} << 20; // bytes in a piece's rows, if these may be long

u64 text_in(const Row &row) {
  u64 out = 0;
  for (const Cell &cell : row)
    out += cell.text().value_or("").size();
  return out;
}

// Rows pulled one after the other, and their formatted text. Reused for further rows.
struct Piece {
  std::vector<Row> rows;
  u64 count = 0; // number of rows used, from the first one
  u64 number = 0;
  std::string text;
};

// The thread that pulls a piece also formats it, while others pull the next ones. Only the thread that called
// write_rows() writes: a signal must be able to end its write.
class OrderedRows {
public:
  using Format = std::function<void(std::string &out, const Row &row, bool is_first)>;
  OrderedRows(const Table &table, const WriteOptions &options, Sink &sink, const Format &format)
      : source_(table, options), has_long_texts_(table.has_long_texts), sink_(sink), format_(format),
        most_ready_(2 * std::max(options.threads, 1u)) {}

  // Runs in the thread that writes (help() runs in the others) until there are no more rows.
  void write_all() {
    set_writing(true);
    for (Piece piece; do_next(piece, false);) {
      while (write_next(ready_count() > most_ready_))
        ;
    }
    set_writing(false); // end() writes what others still have
  }
  void help() {
    for (Piece piece; do_next(piece, true);) {
    }
  }
  // Writes the first rows; returns true if there are more.
  bool write_first() {
    Piece piece;
    return do_next(piece, false) && write_next(false) && !has_ended_;
  }
  // To be called after end().
  bool left_out_some() { return source_.left_out_some(); }
  // To be called when all threads are done. Throws the source's error after everything before it has been written.
  void end() {
    while (write_next(false))
      ;
    if (error_)
      std::rethrow_exception(error_);
  }

private:
  // Pulls and formats a piece; returns false if there is none, or if a thread has failed.
  bool do_next(Piece &piece, bool waits) {
    try {
      if (!pull(piece))
        return false;
      piece.text.clear();
      for (u64 i = 0; i < piece.count; ++i)
        format_(piece.text, piece.rows[i], piece.number == 0 && i == 0);
      return hand_over(piece, waits);
    } catch (...) {
      fail();
      throw;
    }
  }
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
  // Hands over a formatted piece. `waits`: wait while too many are ready and one thread writes. The wait ends, since
  // all pieces before it are being worked on by other threads.
  bool hand_over(Piece &piece, bool waits) {
    std::unique_lock lock(mutex_);
    if (waits)
      changed_.wait(lock, [&] { return piece.number < turn_ + most_ready_ || !is_writing_ || has_failed_; });
    ready_.emplace(piece.number, std::move(piece.text));
    changed_.notify_all();
    return !has_failed_;
  }
  // Writes the next piece in order; returns false if it is not ready, or if a thread has failed.
  bool write_next(bool waits) {
    std::string text;
    {
      std::unique_lock lock(mutex_);
      if (waits)
        changed_.wait(lock, [&] { return ready_.contains(turn_) || has_failed_; });
      if (has_failed_ || !ready_.contains(turn_))
        return false;
      text = std::move(ready_.extract(turn_).mapped());
    }
    try {
      sink_.write(text);
    } catch (...) {
      fail();
      throw;
    }
    const std::lock_guard lock(mutex_);
    ++turn_;
    changed_.notify_all();
    return true;
  }
  u64 ready_count() {
    const std::lock_guard lock(mutex_);
    return ready_.size();
  }
  void set_writing(bool is_writing) {
    const std::lock_guard lock(mutex_);
    is_writing_ = is_writing;
    changed_.notify_all();
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    has_failed_ = true;
    changed_.notify_all();
  }

  std::mutex source_mutex_; // protects the members that follow
  Rows source_;
  u64 pieces_ = 0;
  bool has_ended_ = false;
  std::exception_ptr error_;

  const bool has_long_texts_;
  Sink &sink_;
  const Format &format_;

  std::mutex mutex_; // protects the members that follow
  std::condition_variable changed_;
  std::map<u64, std::string> ready_; // texts by piece number
  const u64 most_ready_;
  u64 turn_ = 0; // the next piece to write
  bool is_writing_ = false, has_failed_ = false;
};

} // namespace

void write_rows(const Table &table, const WriteOptions &options, Sink &sink,
                const std::function<void(std::string &out, const Row &row, bool is_first)> &format,
                bool *left_out_some) {
  OrderedRows rows(table, options, sink, format);
  if (rows.write_first()) // usually these are all: most tables are not worth threads
    parallel_for(std::max(options.threads, 1u), options.threads,
                 [&](u64, unsigned worker) { worker == 0 ? rows.write_all() : rows.help(); });
  rows.end();
  if (left_out_some)
    *left_out_some = rows.left_out_some();
}

} // namespace dnheap::report
