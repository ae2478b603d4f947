#include "analysis/records/compare.h"

#include "analysis/names/framework_names.h"
#include "base/host/host.h"
#include "base/text.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace dnheap {

namespace {

// Adds with saturation, because the figures in records are untrusted.
u64 sum_of(u64 a, u64 b) { return a + b < a ? ~u64{0} : a + b; }
void add(u64 &to, u64 more) { to = sum_of(to, more); }

Trend trend_of(std::span<const u64> values) {
  u64 up = 0, down = 0;
  for (u64 i = 1; i < values.size(); ++i) {
    up += values[i] > values[i - 1];
    down += values[i] < values[i - 1];
  }
  const u64 steps = values.size() - 1;
  if (up && down)
    return Trend::up_and_down;
  if (up)
    return up == steps ? Trend::grew_each_time : Trend::never_shrank;
  if (down)
    return down == steps ? Trend::shrank_each_time : Trend::never_grew;
  return Trend::steady;
}

Course course_of(const Series &series) {
  auto is_there = [&](u64 i) { return series.bytes[i] || series.counts[i]; };
  const u64 last = series.bytes.size() - 1;
  if (!is_there(last))
    return Course::gone;
  if (!is_there(0))
    return Course::added;
  const i64 change = change_of(series.bytes) ? change_of(series.bytes) : change_of(series.counts);
  return change > 0 ? Course::grown : change < 0 ? Course::shrunk : Course::steady;
}

void settle(Series &series) {
  series.course = course_of(series);
  series.trend = trend_of(series.bytes);
}

// Orders those that grew most first, then those that shrank most, then the rest by size.
bool comes_before(const Series &a, const Series &b) {
  const i64 of_a = change_of(a.bytes), of_b = change_of(b.bytes);
  auto rank = [](i64 change) { return change > 0 ? 0 : change < 0 ? 1 : 2; };
  if (rank(of_a) != rank(of_b))
    return rank(of_a) < rank(of_b);
  if (of_a != of_b)
    return of_a > 0 ? of_a > of_b : of_a < of_b;
  if (a.bytes.back() != b.bytes.back())
    return a.bytes.back() > b.bytes.back();
  return a.name != b.name ? a.name < b.name : a.key < b.key;
}

// Matches the rows of all records by their keys. `fill(series, row, record)` adds a row's figures.
template <class Rows, class Key, class Fill>
std::vector<Series> matched(std::span<const Record> records, Rows rows_of, Key key_of, Fill fill) {
  std::vector<Series> out;
  std::unordered_map<std::string, u64> numbers;
  for (u64 record = 0; record < records.size(); ++record)
    for (const auto &row : rows_of(records[record])) {
      auto [at, is_new] = numbers.emplace(key_of(row), out.size());
      if (is_new) {
        Series &series = out.emplace_back();
        series.key = at->first;
        series.bytes.resize(records.size());
        series.counts.resize(records.size());
      }
      fill(out[at->second], row, record);
    }
  for (Series &series : out)
    settle(series);
  std::sort(out.begin(), out.end(), comes_before);
  return out;
}

// Compares owners by parts if all records have parts.
std::vector<Series> owners_of(std::span<const Record> records) {
  const bool in_parts = std::ranges::all_of(records, &Record::has_parts);
  return matched(
      records, [](const Record &record) -> auto & { return record.owners; },
      [&](const Record::Owner &owner) {
        return in_parts            ? owner.signature + '\n' + owner.part
               : owner.is_shared() ? Record::Owner::all_shared
                                   : owner.signature;
      },
      [&](Series &series, const Record::Owner &owner, u64 record) {
        // What an owner holds alone becomes shared as soon as a second owner refers to it. So one row counts what the
        // owner holds alone, and the shared objects of which it is the first owner.
        if (series.name.empty() || !owner.is_shared()) {
          series.name = in_parts ? owner.full_name() : owner.is_shared() ? Record::Owner::all_shared : owner.name;
          series.kind = owner.kind;
        }
        series.what = owner.signature;
        add(series.bytes[record], owner.retained);
        add(series.counts[record], owner.objects);
      });
}

std::vector<Series> types_of(std::span<const Record> records) {
  return matched(
      records, [](const Record &record) -> auto & { return record.types; },
      [](const Record::Type &type) { return type.name; },
      [&](Series &series, const Record::Type &type, u64 record) {
        series.name = type.name;
        series.retained.resize(records.size());
        series.live.resize(records.size());
        add(series.bytes[record], type.bytes);
        add(series.counts[record], type.count);
        add(series.retained[record], type.retained);
        add(series.live[record], type.live);
      });
}

std::vector<Series> classes_of(std::span<const Record> records) {
  return matched(
      records, [](const Record &record) -> auto & { return record.classes; },
      [](const Record::Class &one) { return one.name; },
      [](Series &series, const Record::Class &one, u64 record) {
        series.name = one.text;
        series.kind = one.group;
        add(series.bytes[record], one.bytes);
      });
}

// Returns nothing unless all records have figures of waste: otherwise all waste would seem to be new.
std::vector<Series> waste_of(std::span<const Record> records, Notes &notes) {
  for (const Record &record : records)
    if (!record.has_waste) {
      notes.add(
          Subject::answer, Effect::none,
          "waste is not in " + file_name_of(record.name) +
              ": it has no contents of objects, or an earlier version of dnheap made it; so waste is not compared");
      return {};
    }
  return matched(
      records, [](const Record &record) -> auto & { return record.waste; },
      [](const Record::Waste &one) { return one.kind + '\n' + one.what + '\n' + one.field; },
      [](Series &series, const Record::Waste &one, u64 record) {
        series.name = one.field;
        series.kind = one.kind;
        series.what = one.what;
        add(series.bytes[record], one.bytes);
        add(series.counts[record], one.count);
      });
}

// Sets the hours of each record since the first one, and notes why some are unknown.
void tell_hours(std::span<const Record> records, u64 interval, Comparison &to) {
  to.hours.assign(records.size(), std::nullopt);
  if (interval) {
    for (u64 i = 0; i < records.size(); ++i)
      to.hours[i] = static_cast<double>(interval) * static_cast<double>(i) / 3600;
    return;
  }
  bool in_order = true, one_id = true, one_runtime = true, by_file = false;
  std::optional<u64> before;
  std::string unknown; // names of records whose time is unknown
  std::string version; // of the first record that knows its runtime's, as a .gcdump does not
  for (const Record &record : records) {
    one_id &= !record.pid || !records[0].pid || *record.pid == *records[0].pid;
    if (version.empty())
      version = record.version;
    one_runtime &= record.version.empty() || record.version == version;
    by_file |= record.taken && record.clock == "file";
    if (!record.taken)
      unknown += (unknown.empty() ? "" : ", ") + file_name_of(record.name);
    else if (before)
      in_order &= *record.taken >= *before;
    if (record.taken)
      before = record.taken;
  }
  if (!unknown.empty())
    to.notes.add(Subject::answer, Effect::none,
                 "the time at which these were taken is unknown: " + unknown +
                     "; --interval can give the time between the dumps");
  if (!in_order)
    to.notes.add(Subject::answer, Effect::none,
                 "the dumps' times are not in the order in which the dumps were given: there are no rates; --interval "
                 "can give the time between the dumps");
  const char *differ = !one_id ? "process ids" : !one_runtime ? "runtimes" : nullptr;
  if (differ)
    to.notes.add(Subject::answer, Effect::none,
                 "the dumps' " + std::string(differ) +
                     " differ, so they are not of one process: no rates, unless --interval gives the time between the "
                     "dumps");
  if (!in_order || differ || !records[0].taken)
    return;
  for (u64 i = 0; i < records.size(); ++i)
    if (records[i].taken)
      to.hours[i] = static_cast<double>(*records[i].taken - *records[0].taken) / 3600;
  if (to.hours.back() && *to.hours.back() < 1.0 / 60) {
    to.is_too_close = true;
    to.notes.add(Subject::answer, Effect::none,
                 "the dumps are less than a minute apart, too little for a rate; --interval can give the time between "
                 "them");
  }
  if (by_file)
    to.notes.add(Subject::answer, Effect::none,
                 "times are those at which the files were last written, and copying may have changed them; --interval "
                 "can give the time between the dumps");
}

// How much of the process's memory a record is about.
enum class Coverage : u8 { objects, heap, process };
Coverage coverage_of(const Record &record) {
  return record.container == "gcdump" ? Coverage::objects : record.is_extract ? Coverage::heap : Coverage::process;
}

// Returns the record that is about less memory than another one; null if all are alike.
const Record *smaller_than_others(std::span<const Record> records) {
  const auto [least, most] = std::ranges::minmax_element(records, {}, coverage_of);
  return coverage_of(*least) == coverage_of(*most) ? nullptr : &*least;
}

// Adds a note if no static field of the program is in both the first and the last record, although each has some.
// Namespaces decide whether a field is the program's.
void tell_other_program(Comparison &to) {
  constexpr std::string_view is_static = "static ";
  const FrameworkNames framework({});
  bool first = false, last = false;
  for (const Series &owner : to.owners) {
    if (!owner.name.starts_with(is_static) || framework.contain(owner.name.substr(is_static.size())))
      continue;
    if (owner.bytes.front() && owner.bytes.back())
      return;
    first |= owner.bytes.front() != 0;
    last |= owner.bytes.back() != 0;
  }
  if (first && last)
    to.notes.add(Subject::answer, Effect::none,
                 "no static field of the program holds anything in both the first and the last dump: are these dumps "
                 "of one program?");
}

} // namespace

const char *name_of(Course course) {
  constexpr const char *names[] = {"new", "gone", "grown", "shrunk", "steady"};
  return names[static_cast<u8>(course)];
}

const char *name_of(Trend trend) {
  constexpr const char *names[] = {"steady",      "grew each time", "never shrank",
                                   "up and down", "never grew",     "shrank each time"};
  return names[static_cast<u8>(trend)];
}

i64 change_of(std::span<const u64> values) {
  constexpr u64 most = static_cast<u64>(std::numeric_limits<i64>::max());
  const u64 first = values.front(), last = values.back();
  return last >= first ? static_cast<i64>(std::min(last - first, most))
                       : -static_cast<i64>(std::min(first - last, most));
}

Comparison compare(std::span<const Record> records, u64 interval) {
  if (records.size() < 2)
    throw UsageError("diff needs two dumps or more: dnheap diff BEFORE AFTER");
  Comparison out;
  out.owners = owners_of(records);
  out.types = types_of(records);
  if (const Record *smaller = smaller_than_others(records))
    out.notes.add(Subject::answer, Effect::none,
                  "memory by class is not compared: " + file_name_of(smaller->name) +
                      (coverage_of(*smaller) == Coverage::objects
                           ? " is a .gcdump, which has the heap's objects and nothing else; others have more memory"
                           : " is an extract, which has the heap's memory and little else; other records are of whole "
                             "dumps"));
  else
    out.classes = classes_of(records);
  if (const auto rounded = std::ranges::find(records, Coverage::objects, coverage_of);
      rounded != records.end() &&
      !std::ranges::all_of(records, [](const Record &r) { return coverage_of(r) == Coverage::objects; }))
    out.notes.add(Subject::answer, Effect::none,
                  "sizes in " + file_name_of(rounded->name) +
                      " are as the .gcdump has them, mostly rounded up to what objects take; beside other dumps, "
                      "strings and arrays may look a little larger in it");
  out.waste = waste_of(records, out.notes);
  for (const Record &record : records) {
    out.heap.bytes.push_back(record.bytes);
    out.heap.counts.push_back(record.objects);
    out.live.bytes.push_back(record.live_bytes);
    out.live.counts.push_back(record.live_objects);
    u64 mapped = 0;
    for (const Record::Class &one : record.classes)
      add(mapped, one.bytes);
    out.mapped.bytes.push_back(mapped);
    out.mapped.counts.push_back(record.classes.size());
  }
  for (Series *sum : {&out.heap, &out.live, &out.mapped})
    settle(*sum);
  tell_hours(records, interval, out);
  tell_other_program(out);
  return out;
}

} // namespace dnheap
