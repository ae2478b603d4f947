// Text for people: a headline, aligned tables, what could not be read, and the command to run next. Rows are laid out
// in blocks: the first block sets the widths of its table, so a short table is exact and a long one still streams.
#include "base/text.h"

#include "report/encoding.h"
#include "report/write.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap::report {

namespace {

constexpr u64 block_rows = 1000;
constexpr u64 widest_text = 60; // longer texts shift the rest of their own line only
constexpr u64 gaps_shown = 5;

std::string safe(std::string_view text) {
  std::string out;
  append_printable(out, text);
  return out;
}

class TextTable {
public:
  TextTable(const Table &table, const WriteOptions &options, Sink &sink)
      : table_(table), options_(options), sink_(sink), columns_(columns_in_text(table)) {}

  void write() {
    if (!table_.title.empty())
      sink_.write(safe(table_.title) + "\n");
    if (table_.total)
      total_ = cells_of(*table_.total, "");
    Rows rows(table_, options_);
    while (const Row *row = next(rows)) {
      block_.push_back(cells_of(*row, "-"));
      if (block_.size() == block_rows)
        write_block();
    }
    write_block();
    if (!rows.count())
      sink_.write("(none)\n");
    else if (rows.left_out_some())
      write_left_out(rows.count());
    if (rows.count() && table_.total)
      write_line(total_);
    for (const std::string &note : table_.notes)
      sink_.write(safe(note) + "\n");
  }

private:
  using Cells = std::vector<std::string>;

  Cells cells_of(const Row &row, const char *absent) const {
    Cells cells;
    for (u64 i : columns_) {
      std::string &text = cells.emplace_back();
      if (row[i].is_absent())
        text = absent;
      else
        append_text(text, row[i], table_.columns[i].kind, options_.exact);
    }
    return cells;
  }

  // Whoever sees the rows before an error should see that they are not all.
  const Row *next(Rows &rows) {
    try {
      return rows.next();
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &error) {
      write_block();
      sink_.write("INCOMPLETE: " + safe(error.what()) + "\n");
      sink_.flush();
      throw;
    }
  }

  // Widths from the heading, the rows at hand and the total; then the heading itself.
  void start() {
    Cells titles;
    for (u64 i : columns_) {
      titles.push_back(table_.columns[i].title);
      widths_.push_back(width_of(titles.back()));
    }
    auto widen = [&](const Cells &cells) {
      for (u64 i = 0; i < cells.size(); ++i)
        widths_[i] = std::max(widths_[i], std::min(width_of(cells[i]), widest_text));
    };
    std::for_each(block_.begin(), block_.end(), widen);
    widen(total_);
    write_line(titles);
  }

  void write_block() {
    if (widths_.empty())
      start();
    for (const Cells &cells : block_)
      write_line(cells);
    block_.clear();
  }

  void write_line(const Cells &cells) {
    line_.clear();
    for (u64 i = 0; i < cells.size(); ++i) {
      if (i)
        line_ += "  ";
      u64 width = width_of(cells[i]);
      u64 padding = width < widths_[i] ? widths_[i] - width : 0;
      if (is_right_aligned(table_.columns[columns_[i]].kind))
        line_.append(padding, ' ').append(cells[i]);
      else
        line_.append(cells[i]).append(padding, ' ');
    }
    line_.resize(line_.find_last_not_of(' ') + 1);
    line_ += '\n';
    sink_.write(line_);
  }

  void write_left_out(u64 shown) {
    u64 more = table_.row_count.value_or(0) > shown ? *table_.row_count - shown : 0;
    std::string number = more ? count_text(more) + " " : "";
    sink_.write(fmt::format("… {}more row{}; --top 0 shows all\n", number, more == 1 ? "" : "s"));
  }

  const Table &table_;
  const WriteOptions &options_;
  Sink &sink_;
  const std::vector<u64> columns_;
  std::vector<u64> widths_; // empty until the first block is there
  std::vector<Cells> block_;
  Cells total_;
  std::string line_;
};

void write_completeness(const Completeness &completeness, bool all, Sink &sink) {
  std::string out;
  for (const std::string &note : completeness.notes)
    out += "note: " + safe(note) + "\n";
  const u64 shown = all ? completeness.gaps.size() : std::min<u64>(completeness.gaps.size(), gaps_shown);
  for (u64 i = 0; i < shown; ++i) {
    const Completeness::Gap &gap = completeness.gaps[i];
    out += fmt::format("not read: {}-{} ({}): {}\n", hex(gap.start), hex(gap.end), bytes_text(gap.end - gap.start),
                       safe(gap.reason));
  }
  if (completeness.gaps.size() > shown)
    out +=
        fmt::format("not read: {} more stretches; -v lists them all\n", count_text(completeness.gaps.size() - shown));
  if (!out.empty())
    sink.write("\n" + out);
}

} // namespace

void write_text(const Answer &answer, const WriteOptions &options, Sink &sink) {
  if (!answer.headline.empty())
    sink.write(safe(answer.headline) + "\n");
  if (!answer.lead.empty())
    sink.write(safe(answer.lead) + "\n");
  for (const Table *table : tables_to_write(answer, options, Shown::in_text)) {
    sink.write("\n");
    TextTable(*table, options, sink).write();
  }
  if (answer.completeness)
    write_completeness(*answer.completeness, options.verbose, sink);
  if (!answer.next_command.empty())
    sink.write("\nnext: " + safe(answer.next_command) + "\n");
  sink.flush();
}

} // namespace dnheap::report
