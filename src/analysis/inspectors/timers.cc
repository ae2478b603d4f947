// `inspect timers`: all timers of the runtime's queue, whatever made them; equal ones are one row.
#include "analysis/inspectors/timers.h"

#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/process_clock.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/shapes/unknown_shape.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u32 never = TimerGroup::never;

// Base types of objects that use a timer of the queue; an object of a later row may be inside of one of an earlier row.
struct TimerMaker {
  const char *type, *kind;
};
constexpr TimerMaker timer_makers[] = {{"System.Timers.Timer", "System.Timers.Timer"},
                                       {"System.Threading.PeriodicTimer", "PeriodicTimer"},
                                       {"System.Threading.CancellationTokenSource", "CancellationTokenSource"},
                                       {"System.Threading.Tasks.Task", "Task.Delay"},
                                       {"System.TimeProvider+SystemTimeProviderTimer", "TimeProvider"},
                                       {"System.Threading.Timer", "Timer"}};
constexpr u64 first_of_tasks = 3;
// Types that belong to a timer, and so do not hold it.
constexpr const char *timer_parts[] = {queued_timer,
                                       "System.Threading.TimerHolder",
                                       "System.Threading.TimerCallback",
                                       "System.Threading.PeriodicTimer+State",
                                       "System.Threading.CancellationTokenSource+Registrations",
                                       "System.Threading.CancellationTokenSource+CallbackNode"};

struct FoundTimer {
  Address queued = 0, owner = 0; // owner: the object that the program made; if it is unknown, the queue's timer
  const char *kind = "Timer";
  std::string callback, target_type, state_type;
  u32 due = never, period = never;
  u64 started = 0; // on the clock of ticks; 0: unknown
};

class TimerReader {
public:
  explicit TimerReader(const Snapshot &snapshot)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), bases_(runtime_), fields_(runtime_) {}

  std::vector<FoundTimer> read() {
    std::map<Address, u64> makers; // by type: index in timer_makers
    std::vector<Address> parts, wanted;
    for (Address mt : types_that(snapshot_, [](Address) { return true; })) {
      const std::string &name = runtime_.types().name(mt);
      if (std::find(std::begin(timer_parts), std::end(timer_parts), name) != std::end(timer_parts))
        parts.push_back(mt);
      else if (const std::optional<u64> maker = maker_of(mt))
        makers.emplace(mt, *maker);
      else
        continue;
      wanted.push_back(mt);
    }
    std::vector<Address> queued;
    std::map<Address, std::pair<u64, Address>> owners; // by the queue's timer
    for (const TypedObject &object : objects_of(snapshot_, wanted)) {
      if (auto maker = makers.find(object.method_table); maker != makers.end()) {
        if (const Address timer = inner(object.address)) {
          const std::pair<u64, Address> offer(maker->second, object.address);
          auto [at, is_new] = owners.emplace(timer, offer);
          if (!is_new)
            at->second = std::min(at->second, offer);
        }
        continue;
      }
      this->parts.push_back(object.address);
      if (runtime_.types().name(object.method_table) == queued_timer)
        queued.push_back(object.address);
    }
    std::vector<FoundTimer> out;
    for (Address timer : queued) {
      if (out.size() % 1024 == 0)
        snapshot_.watch().check();
      auto owner = owners.find(timer);
      if (std::optional<FoundTimer> one = read_one(timer, owner == owners.end() ? 0 : owner->second.second)) {
        if (owner != owners.end())
          one->kind = owner->second.first == first_of_tasks ? kind_of_task(one->state_type)
                                                            : timer_makers[owner->second.first].kind;
        out.push_back(std::move(*one));
      }
    }
    return out;
  }

  std::vector<Address> parts; // objects that belong to timers
  u64 unknown = 0;            // timers with other fields

private:
  // Returns nullopt for types without a timer.
  std::optional<u64> maker_of(Address mt) {
    const InstanceField *timer = fields_.find(mt, "_timer");
    if (!timer || !timer->is_reference())
      return std::nullopt;
    for (u64 i = 0; i < std::size(timer_makers); ++i)
      if (bases_.derives(mt, timer_makers[i].type))
        return i;
    return std::nullopt;
  }

  static const char *kind_of_task(const std::string &type) {
    return type.starts_with("System.Threading.Tasks.Task+Delay")          ? "Task.Delay"
           : type.starts_with("System.Threading.Tasks.Task+Cancellation") ? "Task.WaitAsync"
                                                                          : "Task";
  }

  // Returns the queue's timer of an object, through Timer and TimerHolder; 0: none.
  Address inner(Address object) {
    for (int i = 0; i < 4; ++i) {
      object = fields_.reference_or_null(object, "_timer");
      if (!object || !snapshot_.index().is_object(object))
        return 0;
      if (runtime_.types().name(fields_.type_of(object)) == queued_timer)
        return object;
    }
    return 0;
  }

  std::string type_name(Address object) {
    return object && snapshot_.index().is_object(object) ? runtime_.types().name(fields_.type_of(object)) : "";
  }

  std::optional<FoundTimer> read_one(Address timer, Address owner) {
    const std::optional<u32> due = fields_.number<u32>(timer, "_dueTime"),
                             period = fields_.number<u32>(timer, "_period");
    const std::optional<Address> callback = fields_.reference(timer, "_timerCallback"),
                                 state = fields_.reference(timer, "_state");
    if (!due || !period || !callback || !state) {
      ++unknown;
      return std::nullopt;
    }
    FoundTimer out;
    out.queued = timer;
    out.owner = owner ? owner : timer;
    out.due = *due;
    out.period = *period ? *period : never;
    out.started = fields_.number<u64>(timer, "_startTicks").value_or(0);
    out.state_type = type_name(*state);
    // System.Timers.Timer has the program's callback in its event.
    const Address event = owner ? fields_.reference_or_null(owner, "_onIntervalElapsed") : 0;
    add_callback(event ? event : *callback, out);
    return out;
  }

  void add_callback(Address callback, FoundTimer &to) {
    if (!callback || !snapshot_.index().is_object(callback))
      return;
    auto [known, is_new] = callbacks_.try_emplace(callback);
    if (is_new) {
      std::vector<DelegateTarget> targets = runtime_.fields().delegate_targets(callback, fields_.type_of(callback), 1);
      if (!targets.empty())
        known->second = {targets[0].method, type_name(targets[0].object)};
    }
    to.callback = known->second.first;
    to.target_type = known->second.second;
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const BaseTypes bases_;
  FieldReader fields_;
  std::map<Address, std::pair<std::string, std::string>> callbacks_;
};

// Adds how long ago the timer was started, and by how much it is late.
void add_age(const FoundTimer &timer, const ProcessClock &clock, TimerGroup &to) {
  const std::optional<u64> age = clock.since(ProcessClock::Clock::ticks, timer.started);
  if (!age || timer.due == never)
    return;
  to.age_most = std::max(to.age_most.value_or(0), *age);
  to.overdue_most = std::max(to.overdue_most.value_or(0), *age - std::min<u64>(*age, timer.due));
}

std::string due_text(const TimerGroup &group) {
  return group.due_least == group.due_most
             ? milliseconds_text(group.due_least)
             : milliseconds_text(group.due_least) + " to " + milliseconds_text(group.due_most);
}

// "95 s", "95 s (12 s late)". Timers are some milliseconds late as a rule.
std::string age_in_words(const TimerGroup &group) {
  const u64 late = group.overdue_most.value_or(0);
  return age_text(group.age_most.value_or(0), false) + (late >= 1000 ? " (" + age_text(late, false) + " late)" : "");
}

report::Table timers_table(const TimerGroups &groups) {
  using G = std::pair<const TimerKey, TimerGroup>;
  const std::vector<const G *> sorted = largest_first(groups, &TimerGroup::count);
  auto if_active = [](u32 TimerGroup::*member) {
    return [member](const G &g) { return g.first.is_active ? Cell(g.second.*member) : Cell(); };
  };
  report::Table table = report::ColumnsOf<G>{
      {{"count", "Count", Kind::count}, [](const G &g) { return g.second.count; }},
      {{"kind", "Kind", Kind::text}, [](const G &g) { return g.first.kind; }},
      {{"active", "Active", Kind::boolean}, [](const G &g) { return g.first.is_active; }},
      {{"period_ms", "", Kind::number, Shown::in_data},
       [](const G &g) { return g.first.period == never ? Cell() : Cell(g.first.period); }},
      {{"due_ms_least", "", Kind::number, Shown::in_data}, if_active(&TimerGroup::due_least)},
      {{"due_ms_most", "", Kind::number, Shown::in_data}, if_active(&TimerGroup::due_most)},
      {{"period", "Period", Kind::text, Shown::in_text},
       [](const G &g) { return g.first.period == never ? Cell() : Cell(milliseconds_text(g.first.period)); }},
      {{"due", "Due", Kind::text, Shown::in_text},
       [](const G &g) { return g.first.is_active ? Cell(due_text(g.second)) : Cell(); }},
      {{"age_ms_most", "", Kind::number, Shown::in_data}, [](const G &g) { return Cell(g.second.age_most); }},
      {{"overdue_ms_most", "", Kind::number, Shown::in_data}, [](const G &g) { return Cell(g.second.overdue_most); }},
      {{"age", "Age", Kind::text, Shown::in_text},
       [](const G &g) { return g.second.age_most ? Cell(age_in_words(g.second)) : Cell(); }},
      {{"callback", "Calls", Kind::text}, [](const G &g) { return report::text_cell(g.first.callback); }},
      {{"target_type", "On", Kind::text, Shown::in_data},
       [](const G &g) { return report::text_cell(g.first.target_type); }},
      {{"state_type", "With", Kind::text}, [](const G &g) { return report::text_cell(g.first.state_type); }},
      {{"held_by", "Held by", Kind::text}, [](const G &g) { return g.first.held_by; }},
      {{"example", "Example", Kind::address}, [](const G &g) {
         return g.second.example;
       }}}.table("timers", "", sorted);
  u64 sum = 0;
  for (const G *one : sorted) {
    sum += one->second.count;
    explain_compiled_names(one->first.callback, table.notes);
    explain_compiled_names(one->first.held_by, table.notes);
  }
  table.total = total_row(table, {{"count", sum}, {"kind", total_of(sorted.size(), "row")}});
  return table;
}

} // namespace

TimerGroups find_timers(const Snapshot &snapshot, u64 &unknown, const ProcessClock *clock) {
  TimerReader reader(snapshot);
  const std::vector<FoundTimer> timers = reader.read();
  unknown = reader.unknown;
  std::vector<HeldObject> owners;
  for (const FoundTimer &timer : timers)
    owners.push_back({timer.owner, 1});
  HeldBy holders(snapshot, owners, reader.parts);
  TimerGroups groups;
  for (const FoundTimer &timer : timers) {
    const bool is_active = timer.due != never;
    TimerGroup &group = groups[{timer.kind, timer.callback, timer.target_type, timer.state_type, timer.period,
                                is_active, holders.of(timer.owner)}];
    if (group.count++ == 0)
      group.example = timer.owner;
    if (clock)
      add_age(timer, *clock, group);
    group.due_least = std::min(group.due_least, timer.due);
    group.due_most = std::max(group.due_most, timer.due);
  }
  return groups;
}

void inspect_timers(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  u64 unknown = 0;
  const ProcessClock clock(snapshot);
  const TimerGroups groups = find_timers(snapshot, unknown, &clock);
  answer.tables.push_back(timers_table(groups));
  if (!groups.empty())
    answer.tables.back().notes.insert(
        answer.tables.back().notes.begin(),
        "Due: the delay that the program set last; not active: fired, stopped or disposed; Age: of the oldest, from "
        "its start, or the last time that it fired, " +
            clock.note(ProcessClock::Clock::ticks));
  if (unknown)
    answer.completeness->notes.add(unknown_shape_note(unknown, queued_timer, "it"));
  if (!groups.empty()) {
    const auto most = std::max_element(groups.begin(), groups.end(),
                                       [](const auto &a, const auto &b) { return a.second.count < b.second.count; });
    answer.next_command = hex(most->second.example);
  }
}

} // namespace dnheap
