// `diff`: what grew? By owner, type, class of memory and kind of waste, between two dumps or along a series of them.
#include "analysis/answer_head.h"
#include "analysis/owners/signature.h"
#include "analysis/records/compare.h"
#include "analysis/verbs/verbs.h"
#include "base/host/host.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <iterator>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;
using report::Table;

std::string change_text(i64 change) {
  const u64 size = change < 0 ? u64{0} - static_cast<u64>(change) : static_cast<u64>(change);
  return (change > 0 ? "+" : change < 0 ? "-" : "") + bytes_text(size);
}

// Returns "2026-11-22T23:38:17Z"; empty for an impossible time.
Cell time_cell(std::optional<u64> seconds) {
  constexpr u64 year_9999 = 253402300799;
  if (!seconds || *seconds > year_9999)
    return {};
  const std::chrono::sys_seconds at{std::chrono::seconds(static_cast<i64>(*seconds))};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

Cell list_of(const std::vector<u64> &values) { return std::vector<Cell>(values.begin(), values.end()); }

using SeriesColumn = report::ColumnOf<Series>;

// Builds the columns that all tables share.
class Differences {
public:
  Differences(std::span<const Record> records, const Comparison &comparison, const Question &question)
      : records_(records), comparison_(comparison), question_(question) {}

  std::optional<i64> per_hour(i64 change) const {
    const std::optional<double> hours = comparison_.hours.back();
    if (!hours || *hours <= 0 || comparison_.is_too_close)
      return std::nullopt;
    const double rate = std::round(static_cast<double>(change) / *hours);
    return std::abs(rate) < 9e18 ? std::optional(static_cast<i64>(rate)) : std::nullopt;
  }

  void add_table(std::vector<Table> &to, const char *name, const char *title, const std::vector<Series> &all,
                 const std::vector<SeriesColumn> &own) const {
    const report::ColumnsOf<Series> columns = columns_of(own);
    std::vector<const Series *> sorted, changed;
    std::vector<u64> sums(records_.size());
    for (const Series &series : all) {
      sorted.push_back(&series);
      for (u64 i = 0; i < sums.size(); ++i)
        sums[i] += series.bytes[i];
    }
    sort(sorted);
    std::ranges::copy_if(sorted, std::back_inserter(changed), [](const Series *series) {
      return series->course != Course::steady || series->trend != Trend::steady;
    });
    auto add = [&](const std::vector<const Series *> &rows) -> Table & {
      Table &table = to.emplace_back(columns.table(name, title, rows));
      table.total = total_row(table, {{"change", change_of(sums)},
                                      {"per_hour", per_hour(change_of(sums))},
                                      {"before", sums.front()},
                                      {"after", sums.back()},
                                      {own.back().key, "total of " + count_text(all.size())}});
      for (u64 i : between())
        (*table.total)[table.column(key_between(i))] = sums[i];
      return table;
    };
    const u64 steady = sorted.size() - changed.size();
    if (question_.verbose || steady == 0) {
      add(sorted);
      return;
    }
    Table &for_people = add(changed);
    for_people.shown = Shown::in_text;
    for_people.notes.push_back(count_text(steady) + (steady == 1 ? " row did not change; -v shows it, too"
                                                                 : " rows did not change; -v shows them, too"));
    add(sorted).shown = Shown::in_data;
  }

private:
  static constexpr const char *ordinals[] = {"1st", "2nd", "3rd", "4th", "5th", "6th"};

  // The numbers of the records between the first and the last that have a column of their own in text: none if these
  // would not stand on a screen. Data always have the whole series.
  std::vector<u64> between() const {
    std::vector<u64> out;
    for (u64 i = 1; i + 1 < records_.size() && records_.size() <= std::size(ordinals); ++i)
      out.push_back(i);
    return out;
  }
  static std::string key_between(u64 record) { return "in_" + std::to_string(record + 1); }

  report::ColumnsOf<Series> columns_of(const std::vector<SeriesColumn> &own) const {
    const bool is_row = records_.size() > 2;
    using S = Series;
    report::ColumnsOf<S> out = {
        {{"change", "Change", Kind::bytes_change}, [](const S &s) { return change_of(s.bytes); }},
        {{"per_hour", "Per hour", Kind::bytes_change, per_hour(0) ? Shown::everywhere : Shown::in_data},
         [this](const S &s) { return per_hour(change_of(s.bytes)); }},
        {{"before", "Before", Kind::bytes}, [](const S &s) { return s.bytes.front(); }}};
    for (u64 i : between())
      out.add({{key_between(i), ordinals[i], Kind::bytes, Shown::in_text}, [i](const S &s) { return s.bytes[i]; }});
    out.add({{"after", "After", Kind::bytes}, [](const S &s) { return s.bytes.back(); }});
    out.add({{"state", "", Kind::text, is_row ? Shown::in_data : Shown::everywhere},
             [](const S &s) { return name_of(s.course); }});
    out.add({{"trend", "Trend", Kind::text, is_row ? Shown::everywhere : Shown::in_data},
             [](const S &s) { return name_of(s.trend); }});
    out.add({{"series", "Series", Kind::nested, Shown::in_data}, [](const S &s) { return list_of(s.bytes); }});
    for (const SeriesColumn &column : own)
      out.add(column);
    return out;
  }

  void sort(std::vector<const Series *> &rows) const {
    if (question_.sort == "before")
      std::ranges::stable_sort(rows, std::greater(), [](const Series *series) { return series->bytes.front(); });
    else if (question_.sort == "after")
      std::ranges::stable_sort(rows, std::greater(), [](const Series *series) { return series->bytes.back(); });
  }

  std::span<const Record> records_;
  const Comparison &comparison_;
  const Question &question_;
};

// Cells for a number of the first record, of the last one, of each, and the difference of the first and the last.
using SeriesNumbers = std::vector<u64> Series::*;
auto in_first(SeriesNumbers of) {
  return [of](const Series &s) { return (s.*of).front(); };
}
auto in_last(SeriesNumbers of) {
  return [of](const Series &s) { return (s.*of).back(); };
}
auto in_each(SeriesNumbers of) {
  return [of](const Series &s) { return list_of(s.*of); };
}
auto difference(SeriesNumbers of) {
  return [of](const Series &s) { return change_of(s.*of); };
}

void add_owners(const Differences &differences, const Comparison &comparison, report::Answer &answer) {
  using S = Series;
  differences.add_table(
      answer.tables, "owners", "By owner: what would be freed if it let go", comparison.owners,
      {{{"objects_before", "", Kind::count, Shown::in_data}, in_first(&S::counts)},
       {{"objects_after", "", Kind::count, Shown::in_data}, in_last(&S::counts)},
       {{"objects_change", "Objects", Kind::count_change}, difference(&S::counts)},
       {{"objects_series", "", Kind::nested, Shown::in_data}, in_each(&S::counts)},
       {{"kind", "Kind", Kind::text, Shown::in_data}, &S::kind},
       {{"signature", "Signature", Kind::text, Shown::in_data}, &S::what},
       {{"short", "Sig", Kind::text, Shown::in_text}, [](const S &s) { return short_signature(s.what); }},
       {{"owner", "Owner", Kind::text}, &S::name}});
}

void add_types(const Differences &differences, const Comparison &comparison, report::Answer &answer) {
  using S = Series;
  differences.add_table(answer.tables, "types", "By type: all instances, dead ones too", comparison.types,
                        {{{"count_before", "", Kind::count, Shown::in_data}, in_first(&S::counts)},
                         {{"count_after", "", Kind::count, Shown::in_data}, in_last(&S::counts)},
                         {{"count_change", "Count", Kind::count_change}, difference(&S::counts)},
                         {{"count_series", "", Kind::nested, Shown::in_data}, in_each(&S::counts)},
                         {{"live_before", "", Kind::count, Shown::in_data}, in_first(&S::live)},
                         {{"live_after", "", Kind::count, Shown::in_data}, in_last(&S::live)},
                         {{"live_change", "Live", Kind::count_change}, difference(&S::live)},
                         {{"retained_before", "", Kind::bytes, Shown::in_data}, in_first(&S::retained)},
                         {{"retained_after", "", Kind::bytes, Shown::in_data}, in_last(&S::retained)},
                         {{"type", "Type", Kind::text}, &S::name}});
}

void add_classes(const Differences &differences, const Comparison &comparison, report::Answer &answer) {
  using S = Series;
  differences.add_table(answer.tables, "account",
                        "By class of memory: mapped bytes, without memory that is only reserved", comparison.classes,
                        {{{"class", "Class", Kind::text, Shown::in_data}, &S::key},
                         {{"group", "Group", Kind::text, Shown::in_data}, &S::kind},
                         {{"what", "What", Kind::text}, &S::name}});
}

void add_waste(const Differences &differences, const Comparison &comparison, report::Answer &answer) {
  using S = Series;
  differences.add_table(answer.tables, "waste", "Waste among live objects", comparison.waste,
                        {{{"count_before", "", Kind::count, Shown::in_data}, in_first(&S::counts)},
                         {{"count_after", "", Kind::count, Shown::in_data}, in_last(&S::counts)},
                         {{"count_change", "Count", Kind::count_change}, difference(&S::counts)},
                         {{"count_series", "", Kind::nested, Shown::in_data}, in_each(&S::counts)},
                         {{"kind", "Kind", Kind::text}, &S::kind},
                         {{"what", "Type", Kind::text}, &S::what},
                         {{"field", "Held by", Kind::text}, &S::name}});
}

void add_dumps(std::span<const Record> records, const Comparison &comparison, const Question &question,
               report::Answer &answer) {
  struct Dump {
    const Record &record;
    std::optional<double> hours;
    u64 mapped;
  };
  std::vector<Dump> dumps;
  for (u64 i = 0; i < records.size(); ++i)
    dumps.push_back({records[i], comparison.hours[i], comparison.mapped.bytes[i]});
  using D = Dump;
  Table table = report::ColumnsOf<D>{
      {{"taken", "Taken", Kind::text}, [](const D &d) { return time_cell(d.record.taken); }},
      {{"clock", "", Kind::text, Shown::in_data},
       [](const D &d) { return d.record.taken ? Cell(d.record.clock) : Cell(); }},
      {{"hours", "Hours", Kind::number}, &D::hours},
      {{"objects", "Objects", Kind::count}, [](const D &d) { return d.record.objects; }},
      {{"bytes", "Heap", Kind::bytes}, [](const D &d) { return d.record.bytes; }},
      {{"live_objects", "", Kind::count, Shown::in_data}, [](const D &d) { return d.record.live_objects; }},
      {{"live_bytes", "Live", Kind::bytes}, [](const D &d) { return d.record.live_bytes; }},
      {{"mapped", "Mapped", Kind::bytes}, &D::mapped},
      {{"pid", "", Kind::number, Shown::in_data}, [](const D &d) { return d.record.pid; }},
      {{"version", "", Kind::text, Shown::in_data}, [](const D &d) { return report::text_cell(d.record.version); }},
      {{"complete", "Complete", Kind::boolean}, [](const D &d) { return d.record.complete; }},
      {{"saved", "", Kind::boolean, Shown::in_data}, [](const D &d) { return d.record.is_saved; }},
      {{"name", "Dump", Kind::text}, [](const D &d) {
         return d.record.name;
       }}}.table("dumps", "Compared dumps", dumps);
  table.shown = records.size() > 2 || question.verbose ? Shown::everywhere : Shown::in_data;
  table.whole = true;
  answer.tables.push_back(std::move(table));
}

report::Completeness completeness_of(std::span<const Record> records, const Comparison &comparison) {
  report::Completeness out;
  for (const Record &record : records) {
    out.objects += record.objects;
    out.bytes += record.bytes;
    out.bad_objects += record.bad_objects;
    out.incomplete_records += !record.complete;
    for (Note note : record.notes) {
      note.text = file_name_of(record.name) + ": " + note.text;
      out.notes.add(std::move(note));
    }
  }
  out.notes.add_all(comparison.notes);
  for (const Record &record : records)
    if (record.description != records.back().description) {
      out.notes.add(file_name_of(record.name) + " is of " + record.description + ", " +
                    file_name_of(records.back().name) + " of " + records.back().description);
      break;
    }
  return out;
}

report::Headline headline_of(std::span<const Record> records, const Comparison &comparison) {
  std::string out =
      printable(file_name_of(records.front().name), 200) + " → " + printable(file_name_of(records.back().name), 200);
  if (records.size() > 2)
    out += " (" + count_text(records.size()) + " dumps)";
  out += ": " + printable(records.back().description, 200);
  if (const std::optional<double> hours = comparison.hours.back())
    out += *hours < 1 ? fmt::format("; {:.1f} min apart", *hours * 60) : fmt::format("; {:.1f} h apart", *hours);
  return {.what = std::move(out), .shows_completeness = true, .place = {}, .facts = {}};
}

// Returns "live objects: 421.0 MiB → 1.2 GiB (+828.0 MiB, +17.3 MiB per hour); most of it: static Shop.Cache.quotes,
// +597.0 MiB".
std::string lead_of(const Differences &differences, const Comparison &comparison) {
  const i64 change = change_of(comparison.live.bytes);
  std::string out = "live objects: " + bytes_text(comparison.live.bytes.front()) + " → " +
                    bytes_text(comparison.live.bytes.back()) + " (" + (change ? change_text(change) : "no change");
  if (const std::optional<i64> rate = differences.per_hour(change); rate && change)
    out += ", " + change_text(*rate) + " per hour";
  out += ")";
  for (const Series &owner : comparison.owners) {
    const i64 grown = change_of(owner.bytes);
    if (change <= 0 || grown <= 0)
      break;
    if (owner.kind != "unreachable" && owner.kind != "frozen")
      return out + "; most of it: " + printable(owner.name, 200) + ", " + change_text(grown);
  }
  return out;
}

// Returns the command for the paths to the type that grew most, in the last dump.
std::string next_command(const Record &last, const Comparison &comparison) {
  const auto grown = std::find_if(comparison.types.begin(), comparison.types.end(), [](const Series &type) {
    return change_of(type.bytes) <= 0 || change_of(type.live) > 0;
  });
  if (last.is_saved || grown == comparison.types.end() || change_of(grown->bytes) <= 0)
    return "";
  const std::string target =
      last.container == "process" ? "--pid=" + std::to_string(last.pid.value_or(0)) : shell_word(last.name);
  return "dnheap path " + target + " " + shell_word(grown->name);
}

} // namespace

report::Answer answer_diff(std::span<const Record> records, const Question &question) {
  const Comparison comparison = compare(records, question.interval);
  const Differences differences(records, comparison, question);
  report::Answer answer;
  answer.command = "diff";
  answer.completeness = completeness_of(records, comparison);
  answer.headline = headline_of(records, comparison);
  answer.lead = lead_of(differences, comparison);
  // Rows of a table that nobody looks at are not made: of 100,000 types they take a second. But an error about a table
  // that there is not names all that there are.
  const bool all = question.table.empty() || (question.table == "account" && comparison.classes.empty()) ||
                   (question.table == "waste" && comparison.waste.empty());
  auto is_asked = [&](const char *table) { return all || question.table == table; };
  if (is_asked("owners"))
    add_owners(differences, comparison, answer);
  if (is_asked("types"))
    add_types(differences, comparison, answer);
  if (is_asked("account") && !comparison.classes.empty())
    add_classes(differences, comparison, answer);
  if (is_asked("waste") && !comparison.waste.empty())
    add_waste(differences, comparison, answer);
  if (is_asked("dumps"))
    add_dumps(records, comparison, question, answer);
  answer.next_command = next_command(records.back(), comparison);
  return answer;
}

} // namespace dnheap
