#include "analysis/shapes/process_clock.h"

#include "analysis/shapes/typed_objects.h"
#include "base/text.h"
#include "runtime/string_object.h"

#include <algorithm>
#include <chrono>

namespace dnheap {

namespace {

constexpr const char *queue_timer = "System.Threading.TimerQueueTimer";
constexpr const char *timer_queue = "System.Threading.TimerQueue";
// Of Kestrel: both get the time once a second, from a thread of their own, as long as the server runs.
constexpr const char *timeout_control =
    "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.TimeoutControl";
constexpr const char *date_header = "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.DateHeaderValueManager";
constexpr const char *clock_types[] = {queue_timer, timer_queue, timeout_control, date_header};

constexpr u64 ms_of_1970 = 62'135'596'800'000; // from the year 1 on
constexpr u64 ms_of_2100 = ms_of_1970 + 4'102'444'800'000;
constexpr u64 longest_run = u64{200} * 365 * 24 * 3600 * 1000; // ms: longer than any system runs
constexpr u64 most_per_second = 10'000'000'000;

// Returns milliseconds since the year 1 for "Sun, 29 Nov 2026 21:34:55 GMT"; 0 for any other text.
u64 ms_of_date(std::string_view text) {
  constexpr std::string_view form = "aaa, 00 aaa 0000 00:00:00 GMT", months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != form.size())
    return 0;
  for (u64 i = 0; i < form.size(); ++i)
    if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : form[i] != 'a' && text[i] != form[i])
      return 0;
  auto number = [&](u64 at, u64 digits) {
    unsigned out = 0;
    for (u64 i = at; i < at + digits; ++i)
      out = out * 10 + static_cast<unsigned>(text[i] - '0');
    return out;
  };
  const std::size_t month = months.find(text.substr(8, 3));
  if (month == months.npos || month % 3)
    return 0;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(number(12, 4))),
                                         std::chrono::month(static_cast<unsigned>(month / 3 + 1)),
                                         std::chrono::day(number(5, 2)));
  const unsigned hour = number(17, 2), minute = number(20, 2), second = number(23, 2);
  if (!date.ok() || date.year() < std::chrono::year(1970) || hour > 23 || minute > 59 || second > 60)
    return 0;
  const i64 days = std::chrono::sys_days(date).time_since_epoch().count();
  return ms_of_1970 + (static_cast<u64>(days) * 86'400 + hour * 3600 + minute * 60 + second) * 1000;
}

} // namespace

ProcessClock::ProcessClock(const Snapshot &snapshot)
    : snapshot_(snapshot), is_linux_(snapshot.target().os == OperatingSystem::linux_os) {
  TypeSystem &types = snapshot.runtime().types();
  FieldReader fields(snapshot.runtime());
  if (is_linux_)
    stopwatch_per_second_ = 1'000'000'000; // .NET takes it from a clock in nanoseconds
  for (const TypedObject &one : objects_that(snapshot, [&](Address mt) {
         return std::ranges::find(clock_types, types.name(mt)) != std::end(clock_types);
       }))
    read(fields, one.address, types.name(one.method_table));
  take_target();
}

void ProcessClock::read(FieldReader &fields, Address object, const std::string &type) {
  if (type == queue_timer)
    saw(Clock::ticks, fields.number<u64>(object, "_startTicks").value_or(0));
  else if (type == timer_queue)
    saw(Clock::ticks, fields.number<u64>(object, "_currentTimerStartTicks").value_or(0));
  else if (type == timeout_control)
    read_server(fields, object);
  else
    read_date(fields, fields.reference_or_null(fields.reference_or_null(object, "_dateValues"), "String"));
}

void ProcessClock::read_date(FieldReader &fields, Address text) {
  const Runtime &runtime = snapshot_.runtime();
  if (text && runtime.types().name(fields.type_of(text)) == "System.String")
    if (const std::optional<StringText> date = string_text(runtime, text, 64))
      saw_milliseconds(Clock::utc, ms_of_date(date->text));
}

void ProcessClock::read_server(FieldReader &fields, Address control) {
  const Address provider = fields.reference_or_null(control, "_timeProvider");
  if (!provider ||
      snapshot_.runtime().types().name(fields.type_of(provider)) != "System.TimeProvider+SystemTimeProvider")
    return; // a test's own clock
  // It is as long as one second, in units of the stopwatch.
  const u64 per_second = fields.number<u64>(control, "_heartbeatIntervalTicks").value_or(0);
  if (per_second >= 1000 && per_second <= most_per_second && !stopwatch_per_second_)
    stopwatch_per_second_ = per_second;
  saw(Clock::stopwatch, fields.number<u64>(control, "_lastTimestamp").value_or(0));
}

void ProcessClock::take_target() {
  const std::optional<TakenAt> &taken = snapshot_.target().taken;
  auto set = [&](Clock clock, u64 ms) {
    Present &present = clocks_[index(clock)];
    present = {std::max(present.ms, ms), true};
  };
  if (taken && taken->clock != TakenAt::Clock::file)
    set(Clock::utc, ms_of_1970 + taken->seconds * 1000);
  if (taken && taken->ticks) {
    set(Clock::ticks, *taken->ticks);
    if (is_linux_)
      set(Clock::stopwatch, *taken->ticks);
  }
}

u64 ProcessClock::milliseconds(Clock clock, u64 time) const {
  if (clock == Clock::utc) {
    constexpr u64 per_ms = 10'000, ticks_mask = (u64{1} << 62) - 1; // above: the kind of DateTime
    const u64 ms = (time & ticks_mask) / per_ms;
    return ms > ms_of_1970 && ms < ms_of_2100 ? ms : 0;
  }
  u64 ms = time;
  if (clock == Clock::stopwatch)
    ms = stopwatch_per_second_
             ? time / stopwatch_per_second_ * 1000 + time % stopwatch_per_second_ * 1000 / stopwatch_per_second_
             : 0;
  return ms < longest_run ? ms : 0;
}

void ProcessClock::saw(Clock clock, u64 time) { saw_milliseconds(clock, milliseconds(clock, time)); }

void ProcessClock::saw_milliseconds(Clock clock, u64 ms) {
  auto saw = [&](Clock on) { clocks_[index(on)].ms = std::max(clocks_[index(on)].ms, ms); };
  saw(clock);
  // Linux has one clock for both.
  if (is_linux_ && clock != Clock::utc)
    saw(clock == Clock::ticks ? Clock::stopwatch : Clock::ticks);
}

std::optional<u64> ProcessClock::now(Clock clock) const {
  const u64 ms = clocks_[index(clock)].ms;
  return ms ? std::optional(ms) : std::nullopt;
}

std::optional<u64> ProcessClock::since(Clock clock, u64 time) const {
  const u64 then = milliseconds(clock, time), present = clocks_[index(clock)].ms;
  if (!then || !present)
    return std::nullopt;
  return present - std::min(then, present);
}

std::string ProcessClock::note(Clock clock) const {
  if (is_at_least(clock))
    return "until the newest time in the heap, so at least that long";
  return snapshot_.target().taken->clock == TakenAt::Clock::now ? "until now" : "until the time that the dump states";
}

std::string age_text(u64 ms, bool is_at_least) {
  return (is_at_least ? "at least " : "") + milliseconds_text(ms < 1000 ? ms : ms / 1000 * 1000);
}

} // namespace dnheap
