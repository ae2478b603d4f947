#include "analysis/waits/kinds/wait_targets.h"

#include "analysis/shapes/collections/linked_nodes.h"
#include "analysis/threads/thread_text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_steps = 16;        // outwards or inwards
constexpr u64 most_waiters = 1 << 20; // of one Condition
constexpr const char *handles = "System.Threading.WaitHandle", *conditions = "System.Threading.Condition";

// The fields of a type that refer to the inner objects for which threads wait.
struct Inside {
  const char *type;
  std::initializer_list<const char *> fields;
};
const Inside insides[] = {
    {"System.Threading.Lock", {"_waitEventOrCondition", "_waitEvent"}},
    {"System.Threading.ReaderWriterLockSlim", {"_writeEvent", "_readEvent", "_upgradeEvent", "_waitUpgradeEvent"}},
    {"System.Threading.ReaderWriterLock", {"_readerEvent", "_writerEvent"}},
    {"System.Threading.SemaphoreSlim", {"m_lockObjAndDisposed", "m_waitHandle"}},
    {"System.Threading.ManualResetEventSlim", {"m_lock", "m_eventObj"}},
    {"System.Threading.CountdownEvent", {"_event"}},
    {"System.Threading.Barrier", {"_oddEvent", "_evenEvent"}},
    {"System.Threading.Thread", {"_joinEvent"}}};

struct TypeInWords {
  std::string_view words; // a text of waits_for()
  const char *type;
};
constexpr TypeInWords words_of_types[] = {{"a lock (ReaderWriterLockSlim)", "System.Threading.ReaderWriterLockSlim"},
                                          {"a semaphore", "System.Threading.SemaphoreSlim"},
                                          {wait_for_item, "System.Threading.SemaphoreSlim"},
                                          {wait_for_place, "System.Threading.SemaphoreSlim"},
                                          {"an event", "System.Threading.ManualResetEventSlim"},
                                          {"a countdown", "System.Threading.CountdownEvent"},
                                          {"a barrier", "System.Threading.Barrier"},
                                          {"a task", "System.Threading.ManualResetEventSlim"},
                                          {"the end of a thread", "System.Threading.Thread"}};

} // namespace

const WaitTargets::Type &WaitTargets::type(Address method_table) {
  auto [known, is_new] = types_.try_emplace(method_table);
  Type &out = known->second;
  if (!is_new || !method_table || !runtime_.types().object_layout(method_table))
    return out;
  if (bases_.derives(method_table, handles))
    out.kind = Kind::handle;
  else if (bases_.derives(method_table, conditions))
    out.kind = Kind::condition;
  else
    for (const Inside &inside : insides)
      if (bases_.derives(method_table, inside.type)) {
        out.kind = Kind::other;
        out.fields.assign(inside.fields.begin(), inside.fields.end());
        break;
      }
  return out;
}

bool WaitTargets::is_of_kind(Address method_table) { return type(method_table).kind != Kind::none; }

void WaitTargets::add_inner(Address inner, Address outer, bool is_for_pulse) {
  if (inner && outer && inner != outer)
    outers_.try_emplace(inner, Outer{outer, is_for_pulse});
}

// Depth first, each object once.
void WaitTargets::add(Address object) {
  std::vector<Address> left = {object};
  while (!left.empty()) {
    const Address next = left.back();
    left.pop_back();
    const Type &of = type(fields_.type_of(next));
    if (of.kind == Kind::none || !added_.insert(next).second)
      continue;
    if (of.kind == Kind::handle) {
      add_inner(subsystem_.behind(next), next, false);
      add_inner(fields_.reference_or_null(next, "_waitHandle"), next, false);
    } else if (of.kind == Kind::condition)
      add_condition(next);
    for (const std::string &field : of.fields)
      if (const Address inner = fields_.reference_or_null(next, field)) {
        add_inner(inner, next, false);
        left.push_back(inner);
      }
    if (of.kind == Kind::condition)
      left.push_back(fields_.reference_or_null(next, "_waitEvent"));
  }
}

// A lock's Condition has one event for threads that want the lock, and one for each thread that waits for a signal.
void WaitTargets::add_condition(Address condition) {
  add_inner(condition, fields_.reference_or_null(condition, "_lock"), false);
  add_inner(fields_.reference_or_null(condition, "_waitEvent"), condition, false);
  for (Address waiter :
       linked_nodes(fields_, fields_.reference_or_null(condition, "_waitersHead"), "next", most_waiters))
    if (const Address event = fields_.reference_or_null(waiter, "ev")) {
      add_inner(event, condition, true);
      add_inner(subsystem_.behind(event), event, false);
    }
}

WaitTargets::Target WaitTargets::find(Address inner) const {
  Target out{inner, false, {}};
  for (u64 i = 0; i < most_steps; ++i) {
    out.way.push_back(out.object);
    auto outer = outers_.find(out.object);
    if (outer == outers_.end())
      break;
    out.object = outer->second.object;
    out.is_for_pulse |= outer->second.is_for_pulse;
  }
  return out;
}

bool WaitTargets::is_what_words_say(const Target &target, std::string_view words) const {
  const Address method_table = fields_.type_of(target.object);
  if (target.way.size() < 2 || !method_table)
    return false;
  for (const TypeInWords &one : words_of_types)
    if (one.words == words)
      return bases_.derives(method_table, one.type);
  // A lock's event is not enough if the words name a lock.
  return !words.starts_with("a lock") || !bases_.derives(method_table, handles);
}

} // namespace dnheap
