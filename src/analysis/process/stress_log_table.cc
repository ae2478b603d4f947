#include "analysis/process/stress_log_table.h"

#include "analysis/process/stress_log_text.h"
#include "base/text.h"
#include "runtime/facts/il_code.h"

#include <algorithm>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u64 shown_unasked = 1000;

report::Table empty_table(bool is_asked) {
  report::Table table;
  table.name = "stress_log";
  table.title = "Last messages of the runtime (stress log)";
  table.columns = {{"time", "Time", Kind::text},
                   {"ticks", "Ticks", Kind::number, Shown::in_data},
                   {"os_id", "Thread", Kind::number},
                   {"facility", "Facility", Kind::text},
                   {"message", "Message", Kind::text, Shown::everywhere, true},
                   {"format", "", Kind::address, Shown::in_data}};
  table.shown = is_asked ? Shown::everywhere : Shown::in_data;
  return table;
}

// Returns the time of a message, from the log's start time and the frequency of its clock; empty if unknown.
std::string time_of(const StressLog &log, const StressMessage &message) {
  if (!log.frequency || !log.start_time || message.ticks < log.start_ticks)
    return "";
  const u64 ticks = message.ticks - log.start_ticks, seconds = ticks / log.frequency;
  constexpr u64 units = 10'000'000, most_seconds = u64{1} << 33;
  if (seconds > most_seconds)
    return "";
  const u64 part = static_cast<u64>(static_cast<double>(ticks % log.frequency) / static_cast<double>(log.frequency) *
                                    static_cast<double>(units));
  return stress_time_text(log.start_time + seconds * units + part);
}

std::vector<report::Row> rows_of_log(const Runtime &runtime, const StressLog &log, u64 first, u64 &without_format) {
  const std::unique_ptr<IlCode> code = runtime.il_code();
  StressLogNames names;
  names.type = [&](Address type) {
    return runtime.types().object_layout(type) ? runtime.types().name(type) : std::string();
  };
  names.method = [&](Address method) {
    return code && code->is_method(method) ? runtime.method_text(method).name : std::string();
  };
  std::vector<report::Row> rows;
  for (u64 i = first; i < log.messages.size(); ++i) {
    const StressMessage &message = log.messages[i];
    const std::optional<std::string> text = stress_message_text(runtime.memory(), message, names);
    without_format += !text;
    rows.push_back({report::text_cell(time_of(log, message)), message.ticks, message.thread,
                    stress_facility_text(message.facility), text ? Cell(*text) : Cell(),
                    message.format ? Cell(message.format) : Cell()});
  }
  return rows;
}

} // namespace

StressLogAnswer stress_log_table(const Snapshot &snapshot, bool is_asked) {
  StressLogAnswer out{empty_table(is_asked), "", {}};
  const Runtime &runtime = snapshot.runtime();
  std::optional<StressLog> log;
  try {
    log = runtime.stress_log();
  } catch (const Error &e) {
    out.notes.add(Subject::logs, Effect::none, "the runtime's stress log cannot be read: ", e);
  }
  if (!log) {
    if (is_asked && out.notes.empty())
      out.table.notes.push_back("none: the process was started without DOTNET_StressLog=1, or its runtime does not "
                                "publish the log's address (before .NET 11)");
    out.table.set_rows({});
    return out;
  }
  const u64 count = log->messages.size(), first = is_asked ? 0 : count - std::min(count, shown_unasked);
  u64 without_format = 0;
  out.table.set_rows(rows_of_log(runtime, *log, first, without_format));
  if (first)
    out.table.notes.push_back("the newest " + count_text(count - first) + " of " + count_text(count));
  if (without_format)
    out.notes.add(Subject::logs, Effect::none,
                  "stress log: the texts of " + count_text(without_format) +
                      (without_format == 1 ? " message" : " messages") +
                      " are not in this dump; give the folder of the runtime's file, which has them, with --modules");
  out.notes.add_all(log->notes);
  out.fact = count_text(count) + (count == 1 ? " message" : " messages") + " of " + count_text(log->threads) +
             (log->threads == 1 ? " thread" : " threads") + " (--table stress_log)";
  return out;
}

} // namespace dnheap
