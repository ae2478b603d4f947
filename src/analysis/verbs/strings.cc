// `strings`: which strings occur more than once, and which fields hold the copies? Contents only with --values.
#include "analysis/answer_head.h"
#include "analysis/filters/live_filter.h"
#include "analysis/verbs/verbs.h"
#include "analysis/waste/duplicate_strings.h"
#include "base/share.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/string_object.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u64 longest_value = 200; // in characters

using StringGroup = DuplicateStrings::Group;

// Returns the order of the groups: most wasted bytes first by default.
std::vector<u32> order_of(const std::vector<StringGroup> &groups, const std::string &column) {
  std::vector<u32> out(groups.size());
  for (u32 i = 0; i < out.size(); ++i)
    out[i] = i;
  auto key = [&](u32 i) {
    const StringGroup &group = groups[i];
    return column == "count" ? group.strings : column == "bytes" ? group.bytes * group.strings : u64{group.length};
  };
  if (!column.empty() && column != "wasted")
    std::stable_sort(out.begin(), out.end(), [&](u32 a, u32 b) { return key(a) > key(b); });
  return out;
}

// One row per content. Values are read in batches as rows are pulled; if part of the dump was lost meanwhile, a batch
// shows none of its values.
class StringRows {
public:
  StringRows(const Snapshot &snapshot, std::shared_ptr<DuplicateStrings> strings, const Question &question)
      : snapshot_(snapshot), strings_(std::move(strings)), order_(order_of(strings_->groups(), question.sort)),
        has_values_(question.values) {}

  bool next(report::Row &row) {
    if (at_ == order_.size())
      return false;
    const StringGroup &group = strings_->groups()[order_[at_]];
    if (has_values_ && at_ % batch == 0)
      read_values();
    row = {group.strings,
           group.bytes * group.strings,
           group.wasted(),
           u64{group.length},
           fmt::format("{:016x}", group.hash.high),
           has_values_ ? values_[at_ % batch] : Cell(),
           group.kept,
           strings_->field_of(group)};
    ++at_;
    return true;
  }

private:
  static constexpr u64 batch = 256;

  void read_values() {
    values_.clear();
    for (u64 i = at_; i < std::min<u64>(at_ + batch, order_.size()); ++i) {
      const std::optional<StringText> text =
          string_text(snapshot_.runtime(), strings_->groups()[order_[i]].kept, longest_value);
      values_.push_back(text ? Cell(text->text + (text->is_cut ? "…" : "")) : Cell());
    }
    if (snapshot_.has_lost_memory())
      throw Error(snapshot_.target().path +
                  ": part of the target can no longer be read, so the list of strings ends here");
  }

  const Snapshot &snapshot_;
  const std::shared_ptr<DuplicateStrings> strings_;
  const std::vector<u32> order_;
  const bool has_values_;
  std::vector<Cell> values_;
  u64 at_ = 0;
};

report::Table strings_table(const Snapshot &snapshot, const std::shared_ptr<DuplicateStrings> &strings,
                            const Question &question) {
  report::Table table;
  table.name = "strings";
  table.title = "Strings of equal content";
  table.columns = {{"count", "Count", Kind::count},
                   {"bytes", "Bytes", Kind::bytes},
                   {"wasted", "Wasted", Kind::bytes},
                   {"length", "Length", Kind::count},
                   {"hash", "Hash", Kind::text},
                   {"value", "Value", Kind::text, question.values ? Shown::everywhere : Shown::in_data, false, true},
                   {"address", "Example", Kind::address},
                   {"field", "Mostly held by", Kind::text}};
  const std::vector<StringGroup> &groups = strings->groups();
  u64 count = 0, bytes = 0;
  for (const StringGroup &group : groups)
    count += group.strings, bytes += group.bytes * group.strings;
  const std::string words =
      fmt::format("total of {} content{}; all {} strings take {}", count_text(groups.size()),
                  groups.size() == 1 ? "" : "s", count_text(strings->strings()), bytes_text(strings->string_bytes()));
  table.total = total_row(table, {{"count", count}, {"bytes", bytes}, {"wasted", strings->wasted()}, {"field", words}});
  table.row_count = groups.size();
  auto source = std::make_shared<StringRows>(snapshot, strings, question);
  table.rows = [source](report::Row &row) { return source->next(row); };
  if (!question.values)
    table.notes.push_back("equal hashes are equal contents; --values shows these");
  return table;
}

report::Table fields_table(DuplicateStrings &strings) {
  using F = DuplicateStrings::Field;
  const auto &fields = strings.fields();
  report::Table table = report::ColumnsOf<F>{
      {{"copies", "Copies", Kind::count}, &F::copies},
      {{"contents", "Contents", Kind::count}, &F::contents},
      {{"wasted", "Wasted", Kind::bytes}, &F::bytes},
      {{"share", "Share", Kind::percent, Shown::in_text},
       [&](const F &f) { return share_of(f.bytes, strings.wasted()); }},
      {{"field", "Field", Kind::text},
       &F::text}}.table("fields", "By the field that holds the copies", fields);
  table.total = total_row(
      table, {{"copies", strings.copies()}, {"wasted", strings.wasted()}, {"field", total_of(fields.size(), "field")}});
  table.notes.push_back(
      "a copy held by several fields is counted once, for the field that holds most bytes of copies in all");
  return table;
}

} // namespace

Plan plan_strings(const Question &question) {
  Plan plan(passes_of_life(question) | Pass::index | Pass::tally | Pass::references);
  return plan.then("strings").then("holders");
}

report::Answer answer_strings(const Snapshot &snapshot, const Question &question) {
  const ObjectFilter filter = filter_of(snapshot, question);
  report::Answer answer = begin_answer(snapshot, "strings");
  auto strings = std::make_shared<DuplicateStrings>(snapshot, filter);
  answer.tables = {strings_table(snapshot, strings, question), fields_table(*strings)};
  auto lacks = [&](const char *note) { answer.completeness->notes.add(Subject::answer, Effect::numbers, note); };
  if (strings->are_blanked())
    lacks("contents were blanked when this core was extracted: equal strings are unknown");
  else if (!strings->is_type_known())
    lacks("the type of strings was not found in this heap");
  add_name_notes(snapshot, answer);
  add_live_notes(snapshot, question, answer);
  if (!strings->groups().empty())
    answer.next_command = "dnheap show " + shell_word(question.target) + " " + hex(strings->groups().front().kept);
  return answer;
}

} // namespace dnheap
