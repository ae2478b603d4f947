#include "analysis/findings/all_clear.h"

#include "analysis/findings/find_findings.h"
#include "analysis/threads/hang_hints.h"
#include "analysis/waits/kinds/join_waits.h"
#include "base/share.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 much_memory = u64{1} << 20; // less of an area is nothing to look at
constexpr u64 much_native = u64{24} << 20;
constexpr double much_share = 0.1;  // of live memory
constexpr u64 many_that_wait = 100; // calls that wait for time to pass: fewer are usual
constexpr u64 many_assemblies_made = 50;

// Parts of the names of types and owners that belong to an area that find_findings.cc looks at.
struct AreaNames {
  const char *area;
  std::initializer_list<std::string_view> parts;
};
const AreaNames area_names[] = {
    {"timers", {"Timer", "timers"}},
    {"events", {"EventHandler", "handlers", "Action<", "Action,"}},
    {"connections", {"HttpClient", "Socket", "Connection"}},
    {"requests", {"HttpContext", "HttpRequest"}},
    {"open handles", {"SafeHandle", "FileStream", "SafeFile"}},
};

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != text.npos; });
}

// True if the kind of the wait has one of these words, which may also be in the name of a field that stands in brackets
// behind it.
bool is_wait_for(const Activity &one, std::initializer_list<std::string_view> parts) {
  return has_one_of(std::string_view(one.waits_for).substr(0, one.waits_for.find(" (")), parts);
}

bool is_of_time(const Activity &one) { return is_wait_for(one, {"delay", "timer"}) || one.waits_for == "sleep"; }

// The lower, the more probable it is that the group is the reason for a hang. Who waits for the end of a thread or of a
// task is behind others.
u8 rank_of(const Activity &one) {
  const bool are_threads = one.who == Activity::Who::threads;
  if (is_wait_for(one, {"lock"}))
    return 0;
  if (one.waits_for == wait_for_end)
    return 8;
  if (one.waits_for == "a task")
    return 5;
  if (is_of_time(one) || one.waits_for == "the console") // by which services keep their main thread
    return are_threads ? 6 : 7;
  if (is_wait_for(one, {"socket", "HTTP"}))
    return are_threads ? 2 : 4;
  return !one.waits_for.empty() ? (are_threads ? 1 : 3) : are_threads ? 2 : 6;
}

// A single loop that waits for its time, for the next message or for the next one who connects, is no reason, and
// neither is a thread that waits until the host of the program ends.
bool is_idle(const Activity &one) {
  if (one.method.empty() || one.waits_for == "a timer")
    return true;
  if (one.who == Activity::Who::threads && one.calls.starts_with("Microsoft.Extensions.Hosting."))
    return true;
  const bool is_patient = is_of_time(one) || is_wait_for(one, {"socket", "channel"});
  return one.who == Activity::Who::calls && one.count == 1 && is_patient;
}

struct Beginning {
  const Activity *group = nullptr; // null: all of them only wait for time to pass
  // The call for which a thread that waits for a task waits, as a rule: one that waits for time to pass, too.
  const Activity *call_behind = nullptr;
};

Beginning beginning_of(const Activities &activities) {
  const Activity *best = nullptr, *call = nullptr;
  for (const Activity &one : activities.list) {
    if (!is_idle(one) && (!best || rank_of(one) < rank_of(*best)))
      best = &one;
    if (one.who == Activity::Who::calls && !one.method.empty() && (!call || rank_of(one) < rank_of(*call)))
      call = &one;
  }
  const bool is_for_task = best && best->who == Activity::Who::threads && best->waits_for == "a task";
  return {best, is_for_task ? call : nullptr};
}

bool holds_much_of(const Examination &examined, const AreaNames &names) {
  return std::ranges::any_of(examined.suspects.list, [&](const Suspect &one) {
    return one.retained >= much_memory && share_of(one.retained, examined.suspects.live_bytes) >= much_share &&
           (has_one_of(one.way(), names.parts) || has_one_of(one.text(), names.parts));
  });
}

bool is_waited_for(const Activities &activities, std::string_view area) {
  return std::ranges::any_of(activities.list, [&](const Activity &one) {
    if (area == "requests")
      return one.who == Activity::Who::requests;
    if (area == "timers")
      return one.count >= many_that_wait && is_of_time(one);
    return area == "connections" && has_one_of(one.waits_for, {"socket", "HTTP"});
  });
}

bool are_locks_in_use(const Activities &activities) {
  return std::ranges::any_of(activities.list, [](const Activity &one) {
    if (is_of_time(one) || one.waits_for.empty() || has_one_of(one.waits_for, {"socket", "HTTP"}))
      return false;
    return one.who == Activity::Who::threads || has_one_of(one.waits_for, {"lock", "semaphore"});
  });
}

// Areas that cannot be judged here, or that are in use so much that nobody may call them well.
std::vector<std::string_view> areas_in_question(const Examination &examined, const Activities &activities) {
  std::vector<std::string_view> out;
  for (const AreaNames &one : area_names)
    if (is_waited_for(activities, one.area) || holds_much_of(examined, one))
      out.emplace_back(one.area);
  if (examined.facts.malloc_in_use >= much_native)
    out.emplace_back("native memory");
  if (examined.facts.made_assemblies >= many_assemblies_made)
    out.emplace_back("emitted assemblies");
  if (std::ranges::any_of(examined.suspects.list,
                          [](const Suspect &one) { return one.kept[index_of(KeptKind::context)] > 0; }))
    out.emplace_back("AssemblyLoadContexts");
  return out;
}

std::string in_a_row(const std::vector<std::string_view> &names) {
  std::string out;
  for (u64 i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + std::string(names[i]);
  return out;
}

} // namespace

std::string where_to_begin(const Activities &activities) {
  const Beginning begin = beginning_of(activities);
  const Activity *best = begin.group, *call = begin.call_behind;
  if (!best)
    return "";
  const bool runs = best->who == Activity::Who::threads && best->waits_for.empty();
  const std::string_view hint = call ? hang_hint(call->waits_for, "") : hang_hint(best->waits_for, best->calls);
  return fmt::format("{} {}{}; if the program {}, begin there.{}{}{}", best->figures(), best->text(),
                     call ? fmt::format(", and {} {}", call->figures(), call->text()) : "",
                     runs ? "hangs or is slow" : "hangs", hint.empty() ? "" : " ", hint,
                     runs ? " One dump does not show for how long: dnheap sample of the process does." : "");
}

const char *verb_to_begin(const Activities &activities) {
  const Beginning begin = beginning_of(activities);
  return !begin.group ? "" : begin.group->who == Activity::Who::threads && !begin.call_behind ? "threads" : "async";
}

std::string all_clear(const Examination &examined, const Activities &activities, bool is_beside_all_clear) {
  std::vector<std::string_view> areas;
  if (examined.hangs.note.empty() && !are_locks_in_use(activities))
    areas.emplace_back("locks");
  if (!examined.hangs.pool.queued && !examined.hangs.pool.blocked)
    areas.emplace_back("the thread pool");
  if (!examined.hangs.finalizer_objects)
    areas.emplace_back("finalizers");
  const std::vector<std::string_view> without = areas_in_question(examined, activities);
  for (std::string_view area : looked_at())
    if (std::ranges::find(without, area) == without.end())
      areas.push_back(area);
  return areas.empty()
             ? ""
             : fmt::format(" Nothing stands out in {}{}.", in_a_row(areas), is_beside_all_clear ? " either" : "");
}

} // namespace dnheap
