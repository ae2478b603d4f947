#include "analysis/waits/deadlock_text.h"

#include "analysis/names/compiled_names.h"
#include "analysis/threads/thread_text.h"
#include "analysis/waits/scheduler_queues.h"
#include "base/text.h"
#include "runtime/facts/thread_details.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

// Says that a number is the one of a thread, where methods stand beside it.
std::string with_word(const std::string &party) {
  return (party.front() >= '0' && party.front() <= '9' ? "thread " : "") + party;
}

} // namespace

Grounds DeadlockText::grounds_of(const Circle &circle) {
  Grounds out = Grounds::runtime;
  for (const WaitingOne &one : circle)
    out = std::max(out, one.grounds);
  return out;
}

// True if the circle has a lock of that kind without a known owner. (A Mutex with a known owner is like any other
// lock.)
bool DeadlockText::has(const Circle &circle, LockKind kind) const {
  return std::any_of(circle.begin(), circle.end(), [&](const WaitingOne &one) {
    const LockObject *lock = locks_.find(one.waits_for);
    return lock && lock->kind == kind && !lock->owner;
  });
}

bool DeadlockText::has_collection(const Circle &circle) const {
  return std::any_of(circle.begin(), circle.end(),
                     [&](const WaitingOne &one) { return locks_.collections.contains(one.waits_for); });
}

bool DeadlockText::has_any(const Circle &circle, bool WaitingOne::*that) {
  return std::any_of(circle.begin(), circle.end(), [&](const WaitingOne &one) { return one.*that; });
}

// A Mutex without a known owner makes a deadlock only possible: whether a wait for it has a time limit is unknown, too.
Sureness DeadlockText::sureness_of(const Circle &circle) const {
  const Grounds grounds = grounds_of(circle);
  if (ends_by_itself(circle))
    return Sureness::possible;
  if (!is_inferred(grounds))
    return is_limit_unknown(circle) ? Sureness::probable : Sureness::certain;
  const bool is_use_unknown = has_any(circle, &WaitingOne::is_use_unknown);
  return grounds <= Grounds::reference && !is_use_unknown && !has(circle, LockKind::mutex) ? Sureness::probable
                                                                                           : Sureness::possible;
}

std::string DeadlockText::counts(const std::vector<Circle> &circles) const {
  u64 numbers[3] = {};
  for (const Circle &circle : circles)
    ++numbers[static_cast<u8>(sureness_of(circle))];
  constexpr const char *words[] = {"", "PROBABLE ", "POSSIBLE "};
  std::string out;
  for (u64 i = 0; i < 3; ++i)
    if (numbers[i])
      out += fmt::format("; {} {}DEADLOCK{}", numbers[i], words[i], numbers[i] == 1 ? "" : "S");
  return out;
}

std::string DeadlockText::type_name(Address object) const {
  if (locks_.constructed.contains(object))
    return runtime_.types().name(object);
  const Address mt = object ? method_table_of(runtime_.memory(), object) : 0;
  return mt && runtime_.types().object_layout(mt) ? runtime_.types().name(mt) : "(no object)";
}

std::string DeadlockText::thread_number(u32 thread) const {
  const ThreadData &t = locks_.threads[thread];
  return t.os_id.value_or(0) ? std::to_string(*t.os_id) : hex(t.address);
}

std::string DeadlockText::name(u32 thread) const {
  return thread_name(runtime_, runtime_.thread_details(locks_.threads[thread]));
}

std::string DeadlockText::thread(u32 thread) const {
  const std::string called = name(thread);
  std::string more = called;
  if (const u64 id = locks_.threads[thread].managed_id.value_or(0))
    more += (more.empty() ? "managed " : ", managed ") + std::to_string(id);
  return "thread " + thread_number(thread) + (more.empty() ? "" : " (" + more + ")");
}

std::string DeadlockText::method_of(TaskNumber task) {
  const MachineShape *machine = tasks_.machine(task);
  return machine ? machine->method : tasks_.delegate_method(task);
}

std::string DeadlockText::method_in_source(TaskNumber task) {
  const std::string method = task != no_task ? method_of(task) : "";
  return method.starts_with("System.Threading.Tasks.") ? "" : method_in_words(method);
}

std::string DeadlockText::object(Address object) {
  if (locks_.constructed.contains(object))
    return "the static constructor of " + type_name(object);
  if (auto part = locks_.collections.find(object); part != locks_.collections.end())
    return (part->second.is_for_place ? "a free place in " : "an item in ") + type_name(part->second.collection) + " " +
           hex(part->second.collection);
  const TaskNumber task = tasks_.find(object);
  if (task == no_task)
    return type_name(object) + " " + hex(object);
  const TaskNumber whole = tasks_.task_of_call(task); // a call belongs to a task, and has a method of its own
  const std::string method = method_of(tasks_.behind(object));
  return "task " + hex(whole != no_task ? tasks_.address(whole) : object) + (method.empty() ? "" : " (" + method + ")");
}

std::string DeadlockText::words(const Circle &circle) {
  const Sureness sureness = sureness_of(circle);
  std::string out = sureness == Sureness::probable   ? "probably a deadlock: "
                    : sureness == Sureness::possible ? "perhaps a deadlock: "
                                                     : "";
  for (u64 i = 0; i < circle.size(); ++i) {
    const WaitingOne &one = circle[i], &next = one_after(circle, i);
    const std::string waits_for = one.has_limit ? " waits for a limited time for " : " waits for ";
    out += (i ? "; " : "") + who(one);
    if (one.is_for_finalizers)
      out += waits_for + "the finalizers, which " + who(next) + " runs";
    else if (!one.waits_for)
      out += (one.thread ? waits_for + "the end of " : " runs on ") + who(next);
    else if (one.waits_for == one.task)
      out += waits_for + "itself";
    else if (one.is_for_callback)
      out += waits_for + "the end of a callback that " + who(next) + " runs";
    else if (one.is_for_context)
      out += " is queued on " + object(one.waits_for) +
             (is_task_scheduler(runtime_, one.waits_for) ? ", the TaskScheduler whose work is run by "
                                                         : ", the SynchronizationContext of ") +
             who(next);
    else if (one.grounds == Grounds::static_field)
      out += waits_for + object(one.waits_for) + ", in a static field of the type of " + one.method + ", and " +
             who(next) + " is in that method";
    else if (one.grounds == Grounds::passed_wait)
      out += waits_for + object(one.waits_for) + ", which " + who(next) + " has taken, as it has passed that wait in " +
             one.method;
    else if (auto part = locks_.collections.find(one.waits_for);
             part != locks_.collections.end() && !one.is_use_unknown)
      out += waits_for + object(one.waits_for) + (part->second.is_for_place ? ", from which " : ", to which ") +
             who(next) + (part->second.is_for_place ? " is to take" : " is to add") +
             (one.method.empty() ? "" : " in " + one.method.substr(0, one.method.find('(')));
    else if (is_inferred(one.grounds))
      out += waits_for + object(one.waits_for) + ", to which " + who(next) + " has a reference" +
             (one.through ? " by " + type_name(one.through) + " " + hex(one.through) : "") +
             (one.method.empty() ? "" : " in " + one.method);
    else
      out += waits_for + object(one.waits_for) +
             (next.thread ? ", which " + who(next) + (locks_.constructed.contains(one.waits_for) ? " runs" : " holds")
                          : "");
    if (one.grounds == Grounds::stack)
      out += " (as its stack shows)";
  }
  if (ends_by_itself(circle))
    out += ". That wait ends when its time is over";
  if (!is_inferred(grounds_of(circle)))
    return out + (is_limit_unknown(circle) && !ends_by_itself(circle)
                      ? ". It is unknown whether one of these waits has a time limit or can be cancelled"
                      : "");
  const bool is_of_mutex = has(circle, LockKind::mutex), is_of_collection = has_collection(circle),
             is_of_semaphore = has(circle, LockKind::semaphore);
  const bool is_of_scheduler = std::ranges::any_of(
      circle, [&](const WaitingOne &one) { return one.is_for_context && is_task_scheduler(runtime_, one.waits_for); });
  if (!is_of_mutex && !is_of_semaphore && is_of_scheduler)
    return out + ". Nothing records which threads run what is queued there: it is inferred that only such threads do "
                 "as wait now, since no other one is in a method of that TaskScheduler or holds it";
  if (!is_of_mutex && !is_of_semaphore && has_any(circle, &WaitingOne::is_for_context))
    return out +
           ". Nothing records which thread runs what is queued there: it is inferred that this thread does, since "
           "no other one has that SynchronizationContext as its own";
  out += ". ";
  if (is_of_semaphore)
    out += is_of_collection ? "A collection does not record who adds to it, or takes from it"
                            : "A semaphore does not record who took it";
  if (is_of_mutex)
    out += std::string(is_of_semaphore ? ", and who" : "Who") +
           " has a Mutex, and how long somebody waits for it, is known to the operating system only";
  return out + ". So this is inferred from these references: everybody who is known to have such a reference is stuck";
}

const ThreadNames &DeadlockText::names() {
  if (!names_) {
    names_.emplace();
    for (u32 thread = 0; thread < locks_.threads.size(); ++thread)
      names_->add(name(thread), thread_number(thread));
  }
  return *names_;
}

// A task and the thread that runs it are one party: "Loader", "Shop.Cart.Pay", "4711 (Shop.Cart.Pay)".
std::vector<std::string> DeadlockText::parties(const Circle &circle) {
  std::vector<std::string> out;
  for (u64 i = 0; i < circle.size(); ++i) {
    const WaitingOne &one = circle[i], &before = one_before(circle, i), &next = one_after(circle, i);
    auto runs = [](const WaitingOne &task, const WaitingOne &thread) {
      return !task.thread && !task.waits_for && thread.thread;
    };
    if (runs(one, next))
      continue;
    const std::string method = runs(before, one) ? task_method(before.task) : "";
    std::string called =
        one.thread ? names().with_method(*one.thread, method) : method_in_source(tasks_.find(one.task));
    if (!called.empty())
      out.push_back(std::move(called));
  }
  return out;
}

std::string DeadlockText::brief(const Circle &circle) {
  constexpr u64 shown = 4;
  const std::vector<std::string> parties_of = parties(circle);
  const u64 threads = static_cast<u64>(
      std::count_if(circle.begin(), circle.end(), [](const WaitingOne &one) { return one.thread.has_value(); }));
  std::string out = threads == parties_of.size() ? (threads == 1 ? "thread " : "threads ") : threads ? "" : "async ";
  for (u64 i = 0; i < std::min<u64>(parties_of.size(), shown); ++i) {
    out += !i ? "" : i + 1 == parties_of.size() ? " and " : ", ";
    out += (threads && threads != parties_of.size() ? with_word(parties_of[i]) : parties_of[i]);
  }
  if (parties_of.size() > shown)
    out += fmt::format(" and {} more", parties_of.size() - shown);
  if (circle.size() == 1 && waits_for_an_end(circle.front()))
    return out + " waits for its own end";
  out += parties_of.size() < 2 ? " waits for itself" : " wait for each other";
  for (u64 i = 0; i < circle.size(); ++i)
    if (const WaitingOne &next = one_after(circle, i); circle[i].is_for_context && next.thread) {
      const std::string method = task_method(circle[i].task);
      const bool is_scheduler = is_task_scheduler(runtime_, circle[i].waits_for);
      return out + ": " + (method.empty() ? is_scheduler ? "a task" : "a method" : method) + " is queued on the " +
             (is_scheduler ? "TaskScheduler (" : "SynchronizationContext (") + type_name(circle[i].waits_for) +
             (is_scheduler ? ") whose work is run by " : ") of ") + names().called(*next.thread);
    } else if (circle[i].is_for_callback && circle[i].thread) {
      const std::string runs = next.thread ? names().called(*next.thread) : "";
      return out + ": " + names().called(*circle[i].thread) + " waits for the end of a callback that " +
             (runs.empty() || next.thread == circle[i].thread ? "it runs itself" : runs + " runs");
    }
  return out;
}

} // namespace dnheap
