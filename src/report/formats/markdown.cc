// Markdown for GitHub and GitLab, for pull requests and tickets: a line that says what was examined, one table per
// table, and what could not be read. Names out of a dump are escaped: they can contain neither formatting nor HTML.
#include "base/text.h"
#include "report/encoding.h"
#include "report/write.h"

#include <fmt/format.h>

namespace dnheap::report {

namespace {

// Escapes characters that have a meaning in Markdown or HTML.
void append_escaped(std::string &out, std::string_view text) {
  std::string printable;
  append_named(printable, text);
  for (char c : printable) {
    if (std::string_view("\\`*_{}[]()<>#|~!&@$").find(c) != std::string_view::npos)
      out += '\\';
    out += c;
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

class MarkdownTable {
public:
  MarkdownTable(const Table &table, const WriteOptions &options, Sink &sink)
      : table_(table), options_(options), sink_(sink), columns_(columns_in_text(table)) {}

  void write() {
    if (!table_.title.empty())
      sink_.write("\n**" + escaped(table_.title) + "**\n");
    Rows rows(table_, options_);
    while (const Row *row = rows.next()) {
      if (rows.count() == 1)
        write_heading();
      write_line(*row, "–");
    }
    if (!rows.count())
      sink_.write("\n(none)\n");
    const bool left_out = rows.left_out_some();
    if (rows.count() && table_.total)
      write_line(*table_.total, "");
    if (left_out) {
      const u64 more = table_.row_count.value_or(0) > rows.count() ? *table_.row_count - rows.count() : 0;
      sink_.write("\n… " + (more ? count_text(more) + " " : std::string()) + "more rows\n");
    }
    for (const std::string &note : table_.notes)
      sink_.write("\n" + escaped(note) + "\n");
  }

private:
  void write_heading() {
    std::string titles = "\n|", rule = "|";
    for (u64 i : columns_) {
      titles += " " + escaped(table_.columns[i].title) + " |";
      rule += is_right_aligned(table_.columns[i].kind) ? " ---: |" : " --- |";
    }
    sink_.write(titles + "\n" + rule + "\n");
  }

  void write_line(const Row &row, const char *absent) {
    std::string line = "|";
    for (u64 i : columns_) {
      std::string cell;
      if (row[i].is_absent())
        cell = absent;
      else
        append_text(cell, row[i], table_.columns[i], options_.exact);
      line += " ";
      append_escaped(line, cell);
      line += " |";
    }
    sink_.write(line + "\n");
  }

  const Table &table_;
  const WriteOptions &options_;
  Sink &sink_;
  const std::vector<u64> columns_;
};

void write_completeness(const Completeness &completeness, Sink &sink) {
  std::string out;
  for (const Note &note : completeness.notes)
    out += "- note: " + escaped(note.sentence()) + "\n";
  for (u64 i = 0; i < completeness.gaps.size(); ++i) {
    constexpr u64 most = 5;
    if (i == most) {
      out += "- not read: " + count_text(completeness.gaps.size() - most) +
             (completeness.gaps.size() - most == 1 ? " more stretch\n" : " more stretches\n");
      break;
    }
    const Completeness::Gap &gap = completeness.gaps[i];
    out += fmt::format("- not read: {}-{} ({}): {}\n", hex(gap.start), hex(gap.end), bytes_text(gap.end - gap.start),
                       escaped(gap.reason));
  }
  if (!out.empty())
    sink.write("\n" + out);
}

} // namespace

void write_markdown(const Answer &answer, const WriteOptions &options, Sink &sink) {
  sink.write("### dnheap " + escaped(answer.command) + "\n");
  if (const std::string headline = headline_text(answer); !headline.empty())
    sink.write("\n" + escaped(headline) + "\n");
  for (std::string_view paragraph : paragraphs_of(answer.lead))
    sink.write("\n" + escaped(paragraph) + "\n");
  for (const Table *table : tables_to_write(answer, options, Shown::in_text))
    MarkdownTable(*table, options, sink).write();
  if (answer.completeness)
    write_completeness(*answer.completeness, sink);
  if (!answer.next_command.empty()) {
    std::string command;
    append_printable(command, answer.next_command);
    // Use a fence longer than any in the text.
    std::string fence = "```";
    while (command.find(fence) != command.npos)
      fence += '`';
    sink.write("\n" + fence + "\n" + command + "\n" + fence + "\n");
  }
  sink.flush();
}

} // namespace dnheap::report
