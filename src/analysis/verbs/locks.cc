// `locks`: who holds which lock, who waits for whom, and where are deadlocks?
#include "analysis/answer_head.h"
#include "analysis/filters/kind_filter.h"
#include "analysis/verbs/verbs.h"
#include "analysis/waits/deadlock_text.h"
#include "analysis/waits/thread_waits.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <span>

namespace dnheap {

namespace {

using report::Cell;
using report::Fact;
using report::Kind;
using report::Shown;

std::vector<std::string_view> lock_kinds() {
  std::vector<std::string_view> out;
  for (u8 kind = 0; kind <= static_cast<u8>(LockKind::barrier); ++kind)
    out.emplace_back(name_of(static_cast<LockKind>(kind)));
  return out;
}

class LockReport {
public:
  LockReport(const Snapshot &snapshot, const Question &question)
      : question_(question), kinds_(question, lock_kinds()), tasks_(snapshot), locks_(find_locks(snapshot)),
        waits_(find_waits(snapshot, locks_, tasks_)), text_(snapshot.runtime(), tasks_, locks_) {}

  const LockSet &locks() const { return locks_; }
  // Returns the numbers of deadlocks and of threads that wait for locks.
  std::string counts() const {
    std::set<u32> blocked;
    for (const ThreadWait &wait : waits_.waits)
      if (wait.kind == WaitKind::lock || wait.kind == WaitKind::semaphore || wait.kind == WaitKind::mutex)
        blocked.insert(wait.thread);
    std::string out = text_.counts(waits_.circles);
    if (const u64 count = blocked.size())
      out += fmt::format("; {} thread{} for locks", count_text(count), count == 1 ? " waits" : "s wait");
    return out;
  }

  report::Table locks_table() {
    std::vector<const LockObject *> shown;
    for (const LockObject &lock : locks_.locks)
      if (question_.all || lock.is_held || !lock.waiting.empty() || lock.waiters || lock.is_abandoned ||
          lock.is_unknown)
        if ((question_.all || !is_inner(lock)) && kinds_.passes(name_of(lock.kind)))
          shown.push_back(&lock);
    std::stable_sort(shown.begin(), shown.end(),
                     [](const LockObject *a, const LockObject *b) { return a->waiters > b->waiters; });
    const WaitingCalls calls = waiting_calls();
    using L = LockObject;
    report::ColumnsOf<L> columns = {
        {{"object", "Object", Kind::address}, &L::object},
        {{"kind", "Kind", Kind::text}, [](const L &l) { return name_of(l.kind); }},
        {{"owner_os_id", "Held by", Kind::number},
         [this](const L &l) { return l.owner ? number_of(locks_.threads[*l.owner]) : Cell(); }},
        {{"owner_managed_id", "Managed", Kind::number, Shown::in_data},
         [this](const L &l) { return l.owner ? Cell(locks_.threads[*l.owner].managed_id) : Cell(); }},
        {{"owner_name", "Name", Kind::text, Shown::in_data},
         [this](const L &l) { return l.owner ? name_cell(*l.owner) : Cell(); }},
        {{"held", "Held", Kind::boolean, Shown::in_data}, &L::is_held},
        {{"recursion", "Times", Kind::count}, [](const L &l) { return l.recursion ? Cell(l.recursion) : Cell(); }},
        {{"waiters", "Waiters", Kind::count}, &L::waiters},
        {{"waiting", "Waiting threads", Kind::nested, Shown::in_data},
         [this](const L &l) {
           std::vector<Cell> out;
           for (u32 thread : l.waiting)
             out.push_back(locks_.threads[thread].os_id);
           return out;
         }},
        {{"waiting_calls", "Waiting calls", Kind::nested, Shown::in_data},
         [&](const L &l) {
           std::vector<Cell> out;
           if (auto of = calls.find(l.object); of != calls.end())
             for (const auto &[method, count] : of->second)
               out.push_back(std::vector<Fact>{{"method", method}, {"count", count}});
           return out;
         }},
        {{"waiting_text", "Waiting", Kind::text, Shown::in_text}, [&](const L &l) { return waiting_text(l, calls); }},
        {{"may_have_taken", "Taken perhaps by", Kind::nested, Shown::in_data},
         [this](const L &l) { return takers_of(l); }}};
    if (!waits_.may_have_taken.empty()) // otherwise the column would be empty
      columns.add(
          {{"taken_text", "Taken by", Kind::text, Shown::in_text}, [this](const L &l) { return takers_text(l); }});
    columns.add({{"field", "Field", Kind::text, waits_.fields.empty() ? Shown::in_data : Shown::everywhere},
                 [this](const L &l) { return report::text_cell(field_of(l.object)); }});
    columns.add({{"state", "State", Kind::text}, [this](const L &l) { return report::text_cell(state_of(l)); }});
    columns.add({{"type", "Type", Kind::text}, [this](const L &l) { return type_name(l.object); }});
    return columns.table("locks", "", shown);
  }

  report::Table deadlocks_table() {
    const bool any_inferred =
        std::any_of(waits_.circles.begin(), waits_.circles.end(), [&](const std::vector<WaitingOne> &circle) {
          return text_.sureness_of(circle) != Sureness::certain;
        });
    using Circle = std::vector<WaitingOne>;
    report::Table table =
        report::ColumnsOf<Circle>{
            {{"cycle", "Cycle", Kind::nested, Shown::in_data}, [this](const Circle &c) { return cells_of(c); }},
            {{"grounds", "Source", Kind::text, Shown::in_data},
             [](const Circle &c) { return name_of(DeadlockText::grounds_of(c)); }},
            {{"text", "In words", Kind::text, Shown::everywhere, true},
             [this](const Circle &c) { return text_.words(c); }}}
            .table("deadlocks", any_inferred ? "Deadlocks, certain or likely" : "Deadlocks: none of these ever goes on",
                   waits_.circles);
    if (waits_.circles.empty())
      table.shown = Shown::in_data;
    return table;
  }

  report::Table waits_table() {
    using W = ThreadWait;
    report::Table table = report::ColumnsOf<W>{
        {{"os_id", "Thread", Kind::number}, [this](const W &w) { return locks_.threads[w.thread].os_id; }},
        {{"managed_id", "Managed", Kind::number}, [this](const W &w) { return locks_.threads[w.thread].managed_id; }},
        {{"name", "Name", Kind::text}, [this](const W &w) { return name_cell(w.thread); }},
        {{"kind", "Waits for", Kind::text},
         [this](const W &w) {
           const auto part = locks_.collections.find(w.object);
           return part == locks_.collections.end() ? name_of(w.kind)
                  : part->second.is_for_place      ? "free_place"
                                                   : "item";
         }},
        {{"waits_for", "Object", Kind::address}, [](const W &w) { return w.object ? Cell(w.object) : Cell(); }},
        {{"owner_os_id", "Held by", Kind::number},
         [this](const W &w) {
           const std::optional<u32> owner = owner_of(w);
           return owner ? number_of(locks_.threads[*owner]) : Cell();
         }},
        {{"evidence", "Source", Kind::text}, [](const W &w) { return w.is_by_stack ? "stack" : "runtime"; }},
        {{"type", "Type", Kind::text}, [this](const W &w) {
           return w.object ? Cell(type_name(w.object)) : Cell();
         }}}.table("waits", "Waiting threads", waits_.waits);
    if (waits_.waits.empty())
      table.shown = Shown::in_data;
    return table;
  }

private:
  // Returns the thread that has to act next; for a join the thread that is waited for.
  std::optional<u32> owner_of(const ThreadWait &wait) const {
    if (wait.runs_on)
      return wait.runs_on;
    if (wait.kind == WaitKind::join && locks_.targets)
      return locks_.targets->subsystem().thread_of(wait.object);
    const bool may_have_one = wait.kind == WaitKind::lock || wait.kind == WaitKind::mutex;
    const LockObject *lock = may_have_one ? locks_.find(wait.object) : nullptr;
    // A reader that is upgrading to write waits for the other readers.
    return lock && lock->owner != wait.thread ? lock->owner : std::nullopt;
  }

  using WaitingCalls = std::map<Address, std::map<std::string, u64>>; // by semaphore and method

  std::string waiting_text(const LockObject &lock, const WaitingCalls &calls) const {
    constexpr u64 shown = 8; // the table of waits has all, and data have
    std::string out;
    for (u32 thread : std::span(lock.waiting).first(std::min<u64>(shown, lock.waiting.size())))
      out += (out.empty() ? "" : ", ") + thread_number(thread);
    if (lock.waiting.size() > shown)
      out += fmt::format(" and {} more", count_text(lock.waiting.size() - shown));
    if (auto of = calls.find(lock.object); of != calls.end())
      for (const auto &[method, count] : of->second)
        out += (out.empty() ? "" : ", ") + method + (count > 1 ? " × " + count_text(count) : "");
    return out;
  }

  // Returns no number for a thread that has ended.
  static Cell number_of(const ThreadData &thread) { return thread.os_id.value_or(0) ? Cell(thread.os_id) : Cell(); }

  // Returns the state; known readers are named. Only the managed id is left of an owner that has ended.
  std::string state_of(const LockObject &lock) const {
    constexpr u64 shown = 8;
    if (auto part = locks_.collections.find(lock.object); part != locks_.collections.end())
      return fmt::format("{}, {} of {} {}", lock.state, part->second.is_for_place ? "places" : "items",
                         type_name(part->second.collection), hex(part->second.collection));
    if (locks_.is_orphaned(lock))
      return (lock.state.empty() ? "" : lock.state + "; ") +
             fmt::format("managed thread {} had it when it ended: nobody lets it go",
                         locks_.threads[*lock.owner].managed_id.value_or(0));
    if (lock.readers.empty() || lock.readers.size() < lock.reader_count)
      return lock.state;
    std::string out = (lock.owner ? lock.state + "; " : "") + count_text(lock.readers.size()) +
                      (lock.readers.size() == 1 ? " reader: " : " readers: ");
    for (u64 i = 0; i < std::min<u64>(shown, lock.readers.size()); ++i)
      out += (i ? ", " : "") + thread_number(lock.readers[i]);
    return out + (lock.readers.size() > shown ? ", …" : "");
  }

  // True for a lock inside a semaphore, an event or a task: the table shows that outer object instead.
  bool is_inner(const LockObject &lock) const {
    if (lock.kind == LockKind::monitor || lock.kind == LockKind::lock)
      return locks_.by_inner.contains(lock.object) && !lock.waiters;
    return lock.kind == LockKind::event && lock.waiting.empty() &&
           (locks_.by_inner.contains(lock.object) || is_of_task(lock.object));
  }
  bool is_of_task(Address event) const {
    const std::string type = type_name(event);
    return type == "System.Threading.Tasks.Task+SetOnInvokeMres" || type == event_of_all;
  }

  std::string field_of(Address object) const {
    auto field = waits_.fields.find(object);
    return field != waits_.fields.end() ? field->second : "";
  }
  std::string type_name(Address object) const { return text_.type_name(object); }
  std::string thread_number(u32 thread) const { return text_.thread_number(thread); }
  Cell name_cell(u32 thread) const {
    const std::string name = text_.name(thread);
    return report::text_cell(name);
  }

  // Returns the methods that wait for semaphores asynchronously, with their numbers.
  WaitingCalls waiting_calls() {
    WaitingCalls out;
    for (const auto &[node, semaphore] : locks_.by_node)
      if (const std::string method = method_behind(tasks_.find(node)); !method.empty())
        ++out[semaphore][method];
    return out;
  }
  // Skips a semaphore's own waiting methods, and returns the one that called them.
  std::string method_behind(TaskNumber task) {
    constexpr u64 most_steps = 16;
    for (u64 i = 0; i < most_steps && task != no_task; ++i) {
      const std::vector<Continuation> next = tasks_.continuations(task, 1);
      if (next.empty() || next[0].kind == ContinuationKind::thread)
        return "";
      task = tasks_.find(next[0].object);
      const MachineShape *machine = task != no_task ? tasks_.machine(task) : nullptr;
      if (machine && !machine->method.starts_with("System.Threading.SemaphoreSlim.") &&
          !is_await_helper(machine->method))
        return machine->method;
    }
    return "";
  }

  std::vector<Cell> takers_of(const LockObject &lock) const {
    std::vector<Cell> out;
    if (auto of = waits_.may_have_taken.find(lock.object); of != waits_.may_have_taken.end())
      for (const SemaphoreHolder &one : of->second)
        out.push_back(std::vector<Fact>{{"os_id", one.thread ? Cell(locks_.threads[*one.thread].os_id) : Cell()},
                                        {"task", one.task != no_task ? Cell(hex(tasks_.address(one.task))) : Cell()},
                                        {"grounds", name_of(one.grounds)},
                                        {"sureness", sureness_of(one)},
                                        {"through", one.through ? Cell(hex(one.through)) : Cell()}});
    return out;
  }
  static const char *sureness_of(const SemaphoreHolder &one) {
    return one.is_sure() ? "probable" : one.is_doubtful() ? "doubtful" : "possible";
  }
  // Returns "probably 4711 in Shop.Cart.Pay" for holders that have passed the wait. If there are none, names those
  // whose methods take or give back such a semaphore; else those with a reference of their own; else all others if they
  // are few, because a missing name is better than a wrong one.
  std::string takers_text(const LockObject &lock) {
    constexpr u64 shown = 3;
    auto of = waits_.may_have_taken.find(lock.object);
    if (of == waits_.may_have_taken.end())
      return "";
    std::vector<const SemaphoreHolder *> sure, users, others, weak;
    for (const SemaphoreHolder &one : of->second)
      if (one.grounds != Grounds::stack && !one.is_doubtful())
        (one.is_sure()                       ? sure
         : one.grounds == Grounds::reference ? (one.is_user == true ? users : others)
                                             : weak)
            .push_back(&one);
    const bool is_sure = !sure.empty();
    for (std::vector<const SemaphoreHolder *> *next : {&users, &others, &weak})
      if (sure.empty() && (next != &weak || weak.size() <= shown))
        sure = std::move(*next);
    const auto part = locks_.collections.find(lock.object);
    std::string out = sure.empty()                       ? ""
                      : is_sure                          ? "probably "
                      : part == locks_.collections.end() ? "perhaps "
                      : part->second.is_for_place        ? "may take: "
                                                         : "may add: ";
    for (u64 i = 0; i < std::min<u64>(shown, sure.size()); ++i)
      out +=
          (i ? ", " : "") +
          (sure[i]->thread ? thread_number(*sure[i]->thread) : text_.object(tasks_.address(sure[i]->task))) +
          // the only evidence
          (sure[i]->grounds == Grounds::static_field || (is_sure && sure[i]->thread) ? " in " + sure[i]->method : "");
    return out + (sure.size() > shown ? ", …" : "");
  }

  std::vector<Cell> cells_of(const std::vector<WaitingOne> &circle) {
    std::vector<Cell> out;
    for (u64 i = 0; i < circle.size(); ++i) {
      const WaitingOne &one = circle[i], &before = DeadlockText::one_before(circle, i);
      const bool holds = (one.thread || is_inferred(before.grounds)) && before.waits_for;
      out.push_back(std::vector<Fact>{{"os_id", one.thread ? Cell(locks_.threads[*one.thread].os_id) : Cell()},
                                      {"task", one.task ? Cell(hex(one.task)) : Cell()},
                                      {"holds", holds ? Cell(hex(before.waits_for)) : Cell()},
                                      {"waits_for", one.waits_for ? Cell(hex(one.waits_for)) : Cell()},
                                      {"waits_for_type", one.waits_for ? Cell(type_name(one.waits_for)) : Cell()},
                                      {"grounds", name_of(one.grounds)}});
    }
    return out;
  }

  const Question &question_;
  const KindFilter kinds_;
  Tasks tasks_;
  LockSet locks_;
  ThreadWaits waits_;
  DeadlockText text_;
};

} // namespace

report::Answer answer_locks(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "locks");
  LockReport found(snapshot, question);
  answer.tables = {found.locks_table(), found.deadlocks_table(), found.waits_table()};
  answer.completeness->notes.add_all(found.locks().problems);
  if (snapshot.runtime().descriptor().missing.contains("SyncTableEntries"))
    answer.completeness->notes.add({.subject = Subject::locks,
                                    .effect = Effect::numbers,
                                    .text =
                                        "monitors whose state lies in a sync block are missing, because this was not "
                                        "found: SyncTableEntries (dnheap contract --table missing says what was tried)",
                                    .key = "SyncTableEntries"});
  answer.headline.facts += found.counts();
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap async " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
