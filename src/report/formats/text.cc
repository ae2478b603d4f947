// Text for people: a headline, aligned tables, what could not be read, and the command to run next.
#include "base/text.h"

#include "report/encoding.h"
#include "report/formats/text_table.h"
#include "report/formats/wrap.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap::report {

namespace {

constexpr u64 gaps_shown = 5;

std::string safe(std::string_view text) {
  std::string out;
  append_named(out, text);
  return out;
}

// Writes sentences outside of tables.
class Sentences {
public:
  Sentences(const WriteOptions &options, Sink &sink)
      : style_(options.color), width_(options.wrap ? options.width : 0), sink_(sink) {}

  void write(std::string_view text, u64 indent = 2) {
    for (const std::string &line : wrap(safe(text), width_, indent))
      sink_.write(line + "\n");
  }

  void write_heading(std::string_view text) {
    for (const std::string &line : wrap(safe(text), width_))
      sink_.write(style_.heading(line) + "\n");
  }

  // The sentence begins with `label`: "note:".
  void write_warning(std::string_view label, std::string_view text) {
    bool first = true;
    for (const std::string &line : wrap(std::string(label) + " " + safe(text), width_, 2)) {
      const u64 marked = first && line.starts_with(label) ? label.size() : 0;
      sink_.write(style_.warning(line.substr(0, marked)) + line.substr(marked) + "\n");
      first = false;
    }
  }

private:
  const ScreenStyle style_;
  const u64 width_;
  Sink &sink_;
};

void write_completeness(const Completeness &completeness, bool all, Sentences &to, Sink &sink) {
  if (!completeness.notes.empty() || !completeness.gaps.empty())
    sink.write("\n");
  for (const Note &note : completeness.notes)
    to.write_warning("note:", note.sentence());
  const u64 shown = all ? completeness.gaps.size() : std::min<u64>(completeness.gaps.size(), gaps_shown);
  for (u64 i = 0; i < shown; ++i) {
    const Completeness::Gap &gap = completeness.gaps[i];
    to.write_warning("not read:", fmt::format("{}-{} ({}): {}", hex(gap.start), hex(gap.end),
                                              bytes_text(gap.end - gap.start), gap.reason));
  }
  if (completeness.gaps.size() > shown)
    to.write_warning("not read:",
                     fmt::format("{} more stretch{}; -v lists all", count_text(completeness.gaps.size() - shown),
                                 completeness.gaps.size() - shown == 1 ? "" : "es"));
}

// Writes the sentences before all tables.
void write_lead(std::string_view lead, Sentences &to, Sink &sink) {
  bool first = true;
  for (std::string_view paragraph : paragraphs_of(lead)) {
    if (!first)
      sink.write("\n");
    to.write_heading(paragraph);
    first = false;
  }
}

} // namespace

void write_text(const Answer &answer, const WriteOptions &options, Sink &sink) {
  Sentences sentences(options, sink);
  if (const std::string headline = headline_text(answer); !headline.empty())
    sentences.write(headline);
  write_lead(answer.lead, sentences, sink);
  for (const Table *table : tables_to_write(answer, options, Shown::in_text)) {
    sink.write("\n");
    TextTable(*table, options, sink).write();
  }
  if (answer.completeness)
    write_completeness(*answer.completeness, options.verbose, sentences, sink);
  // Written in one line, however long, so that it can be copied.
  if (!answer.next_command.empty())
    sink.write("\nnext: " + ScreenStyle(options.color).heading(safe(answer.next_command)) + "\n");
  sink.flush();
}

} // namespace dnheap::report
