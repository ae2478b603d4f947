// `locks`: who holds what, who waits for whom, and who waits in a circle?
#include "analysis/answer_head.h"
#include "analysis/inspect/thread_waits.h"
#include "analysis/verbs.h"
#include "base/text.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Fact;
using report::Kind;
using report::Shown;

class LockReport {
public:
  LockReport(Snapshot &snapshot, const Question &question)
      : runtime_(snapshot.runtime()), question_(question), tasks_(snapshot), locks_(find_locks(snapshot)),
        waits_(find_waits(snapshot, locks_, tasks_)) {}

  const LockSet &locks() const { return locks_; }
  // "; 2 DEADLOCKS; 1 PROBABLE DEADLOCK"; empty: there are none.
  std::string counts() const {
    u64 numbers[3] = {};
    for (const std::vector<WaitingOne> &circle : waits_.circles)
      ++numbers[sureness_of(grounds_of(circle))];
    constexpr const char *words[] = {"", "PROBABLE ", "POSSIBLE "};
    std::string out;
    for (u64 i = 0; i < 3; ++i)
      if (numbers[i])
        out += fmt::format("; {} {}DEADLOCK{}", numbers[i], words[i], numbers[i] == 1 ? "" : "S");
    return out;
  }

  report::Table locks_table() {
    report::Table table;
    table.name = "locks";
    table.columns = {{"object", "Object", Kind::address},
                     {"kind", "Kind", Kind::text},
                     {"owner_os_id", "Held by", Kind::number},
                     {"owner_managed_id", "Managed", Kind::number, Shown::in_data},
                     {"held", "Held", Kind::boolean, Shown::in_data},
                     {"recursion", "Times", Kind::count},
                     {"waiters", "Waiters", Kind::count},
                     {"waiting", "Waiting threads", Kind::nested, Shown::in_data},
                     {"waiting_calls", "Waiting calls", Kind::nested, Shown::in_data},
                     {"waiting_text", "Waiting", Kind::text, Shown::in_text},
                     {"may_have_taken", "Taken perhaps by", Kind::nested, Shown::in_data},
                     {"state", "State", Kind::text},
                     {"type", "Type", Kind::text}};
    std::vector<const LockObject *> shown;
    for (const LockObject &lock : locks_.locks)
      if (question_.all || lock.is_held || !lock.waiting.empty() || lock.waiters)
        if (question_.all || !is_inner(lock))
          shown.push_back(&lock);
    std::stable_sort(shown.begin(), shown.end(),
                     [](const LockObject *a, const LockObject *b) { return a->waiters > b->waiters; });
    const WaitingCalls calls = waiting_calls();
    std::vector<report::Row> rows;
    for (const LockObject *lock : shown)
      rows.push_back(row_of(*lock, calls));
    if (!waits_.may_have_taken.empty()) { // else the column would be empty
      const auto at = static_cast<std::ptrdiff_t>(table.columns.size()) - 2;
      table.columns.insert(table.columns.begin() + at, {"taken_text", "Taken perhaps by", Kind::text, Shown::in_text});
      for (u64 i = 0; i < rows.size(); ++i)
        rows[i].insert(rows[i].begin() + at, Cell(takers_text(*shown[i])));
    }
    table.set_rows(std::move(rows));
    return table;
  }

  report::Table deadlocks_table() {
    report::Table table;
    table.name = "deadlocks";
    const bool any_inferred =
        std::any_of(waits_.circles.begin(), waits_.circles.end(),
                    [](const std::vector<WaitingOne> &circle) { return sureness_of(grounds_of(circle)) != 0; });
    table.title = any_inferred ? "Deadlocks, and what seems to be one" : "Deadlocks: nobody of these ever goes on";
    table.columns = {{"cycle", "Cycle", Kind::nested, Shown::in_data},
                     {"grounds", "Told by", Kind::text, Shown::in_data},
                     {"text", "In words", Kind::text}};
    std::vector<report::Row> rows;
    for (const std::vector<WaitingOne> &circle : waits_.circles)
      rows.push_back({Cell(cells_of(circle)), name_of(grounds_of(circle)), text_of(circle)});
    if (rows.empty())
      table.shown = Shown::in_data;
    table.set_rows(std::move(rows));
    return table;
  }

  report::Table waits_table() {
    report::Table table;
    table.name = "waits";
    table.title = "What threads wait for";
    table.columns = {{"os_id", "Thread", Kind::number},
                     {"managed_id", "Managed", Kind::number, Shown::in_data},
                     {"kind", "Waits for", Kind::text},
                     {"waits_for", "Object", Kind::address},
                     {"owner_os_id", "Held by", Kind::number},
                     {"evidence", "Told by", Kind::text},
                     {"type", "Type", Kind::text}};
    std::vector<report::Row> rows;
    for (const ThreadWait &wait : waits_.waits) {
      const ThreadData &thread = locks_.threads[wait.thread];
      const LockObject *lock = wait.kind == WaitKind::lock ? locks_.find(wait.object) : nullptr;
      rows.push_back({thread.os_id, thread.managed_id, name_of(wait.kind), wait.object,
                      lock && lock->owner ? Cell(locks_.threads[*lock->owner].os_id) : Cell(),
                      wait.is_by_stack ? "stack" : "runtime", type_name(wait.object)});
    }
    if (rows.empty())
      table.shown = Shown::in_data;
    table.set_rows(std::move(rows));
    return table;
  }

private:
  using WaitingCalls = std::map<Address, std::map<std::string, u64>>; // by semaphore and method

  report::Row row_of(const LockObject &lock, const WaitingCalls &calls) const {
    std::vector<Cell> waiting, methods;
    std::string text;
    for (u32 thread : lock.waiting) {
      waiting.push_back(locks_.threads[thread].os_id);
      text += (text.empty() ? "" : ", ") + thread_number(thread);
    }
    if (auto of = calls.find(lock.object); of != calls.end())
      for (const auto &[method, count] : of->second) {
        methods.push_back(std::vector<Fact>{{"method", method}, {"count", count}});
        text += (text.empty() ? "" : ", ") + method + (count > 1 ? " × " + count_text(count) : "");
      }
    const ThreadData *owner = lock.owner ? &locks_.threads[*lock.owner] : nullptr;
    const std::string state = state_of(lock);
    return {lock.object,
            name_of(lock.kind),
            owner ? Cell(owner->os_id) : Cell(),
            owner ? Cell(owner->managed_id) : Cell(),
            lock.is_held,
            lock.recursion ? Cell(lock.recursion) : Cell(),
            lock.waiters,
            Cell(std::move(waiting)),
            Cell(std::move(methods)),
            Cell(text),
            Cell(takers_of(lock)),
            state.empty() ? Cell() : Cell(state),
            type_name(lock.object)};
  }

  // Readers that are known are named.
  std::string state_of(const LockObject &lock) const {
    constexpr u64 shown = 8;
    if (lock.readers.empty() || lock.readers.size() < lock.reader_count)
      return lock.state;
    std::string out = count_text(lock.readers.size()) + (lock.readers.size() == 1 ? " reader: " : " readers: ");
    for (u64 i = 0; i < std::min<u64>(shown, lock.readers.size()); ++i)
      out += (i ? ", " : "") + thread_number(lock.readers[i]);
    return out + (lock.readers.size() > shown ? ", …" : "");
  }

  // What a thread waits for inside a semaphore, an event or a task: told there.
  bool is_inner(const LockObject &lock) const {
    return (lock.kind == LockKind::monitor && locks_.by_inner.contains(lock.object) && !lock.waiters) ||
           (lock.kind == LockKind::event && lock.waiting.empty() && is_of_task(lock.object));
  }
  bool is_of_task(Address event) const { return type_name(event) == "System.Threading.Tasks.Task+SetOnInvokeMres"; }

  std::string type_name(Address object) const {
    const Address mt = object ? method_table_of(runtime_.memory(), object) : 0;
    return mt && runtime_.types().object_layout(mt) ? runtime_.types().name(mt) : "(no object)";
  }
  std::string thread_number(u32 thread) const {
    const ThreadData &t = locks_.threads[thread];
    return t.os_id.value_or(0) ? std::to_string(*t.os_id) : hex(t.address);
  }
  std::string object_text(Address object) {
    const TaskNumber task = tasks_.find(object);
    if (task == no_task)
      return type_name(object) + " " + hex(object);
    const MachineShape *machine = tasks_.machine(task);
    const std::string method = machine ? machine->method : tasks_.delegate_method(task);
    return "task " + hex(object) + (method.empty() ? "" : " (" + method + ")");
  }
  std::string who(const WaitingOne &one) {
    return one.thread ? "thread " + thread_number(*one.thread) : object_text(one.task);
  }

  // The methods that wait for semaphores asynchronously, how many of each.
  WaitingCalls waiting_calls() {
    WaitingCalls out;
    for (const auto &[node, semaphore] : locks_.by_node)
      if (const std::string method = method_behind(tasks_.find(node)); !method.empty())
        ++out[semaphore][method];
    return out;
  }
  // Where a semaphore's own methods wait for it, the one that called these.
  std::string method_behind(TaskNumber task) {
    constexpr u64 most_steps = 6;
    for (u64 i = 0; i < most_steps && task != no_task; ++i) {
      const std::vector<Continuation> next = tasks_.continuations(task, 1);
      if (next.empty() || next[0].kind == ContinuationKind::thread || next[0].kind == ContinuationKind::callback)
        return "";
      task = tasks_.find(next[0].object);
      const MachineShape *machine = task != no_task ? tasks_.machine(task) : nullptr;
      if (machine && !machine->method.starts_with("System.Threading.SemaphoreSlim."))
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
                                        {"through", one.through ? Cell(hex(one.through)) : Cell()}});
    return out;
  }
  std::string takers_text(const LockObject &lock) {
    constexpr u64 shown = 3;
    std::string out;
    auto of = waits_.may_have_taken.find(lock.object);
    if (of == waits_.may_have_taken.end())
      return out;
    for (u64 i = 0; i < std::min<u64>(shown, of->second.size()); ++i) {
      const SemaphoreHolder &one = of->second[i];
      out += (i ? ", " : "") + (one.thread ? thread_number(*one.thread) : object_text(tasks_.address(one.task)));
    }
    return out + (of->second.size() > shown ? ", …" : "");
  }

  // The weakest.
  static Grounds grounds_of(const std::vector<WaitingOne> &circle) {
    Grounds out = Grounds::runtime;
    for (const WaitingOne &one : circle)
      out = std::max(out, one.grounds);
    return out;
  }
  static u64 sureness_of(Grounds grounds) {
    return grounds == Grounds::reference ? 1 : grounds == Grounds::reference_by_object ? 2 : 0;
  }

  std::string text_of(const std::vector<WaitingOne> &circle) {
    const u64 sureness = sureness_of(grounds_of(circle));
    std::string out = sureness == 1 ? "probably a deadlock: " : sureness == 2 ? "perhaps a deadlock: " : "";
    for (u64 i = 0; i < circle.size(); ++i) {
      const WaitingOne &one = circle[i], &next = circle[(i + 1) % circle.size()];
      out += (i ? "; " : "") + who(one);
      if (!one.waits_for)
        out += (one.thread ? " waits for the end of " : " runs on ") + who(next);
      else if (one.grounds >= Grounds::reference)
        out += " waits for " + object_text(one.waits_for) + ", to which " + who(next) + " has a reference" +
               (one.through ? " by " + type_name(one.through) + " " + hex(one.through) : "") +
               (one.method.empty() ? "" : " in " + one.method);
      else if (next.thread)
        out += " waits for " + object_text(one.waits_for) + ", which " + who(next) + " holds";
      else
        out += " waits for " + object_text(one.waits_for);
      if (one.grounds == Grounds::stack)
        out += " (as its stack tells)";
    }
    if (sureness)
      out +=
          ". A SemaphoreSlim does not say who took it: that is inferred from these references, as nobody who goes on "
          "is known to have one";
    return out;
  }

  std::vector<Cell> cells_of(const std::vector<WaitingOne> &circle) {
    std::vector<Cell> out;
    for (u64 i = 0; i < circle.size(); ++i) {
      const WaitingOne &one = circle[i], &before = circle[(i + circle.size() - 1) % circle.size()];
      const bool holds = (one.thread || before.grounds >= Grounds::reference) && before.waits_for;
      out.push_back(std::vector<Fact>{{"os_id", one.thread ? Cell(locks_.threads[*one.thread].os_id) : Cell()},
                                      {"task", one.task ? Cell(hex(one.task)) : Cell()},
                                      {"holds", holds ? Cell(hex(before.waits_for)) : Cell()},
                                      {"waits_for", one.waits_for ? Cell(hex(one.waits_for)) : Cell()},
                                      {"waits_for_type", one.waits_for ? Cell(type_name(one.waits_for)) : Cell()},
                                      {"grounds", name_of(one.grounds)}});
    }
    return out;
  }

  const Runtime &runtime_;
  const Question &question_;
  Tasks tasks_;
  LockSet locks_;
  ThreadWaits waits_;
};

} // namespace

report::Answer answer_locks(Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "locks");
  LockReport found(snapshot, question);
  answer.tables = {found.locks_table(), found.deadlocks_table(), found.waits_table()};
  for (const std::string &problem : found.locks().problems) {
    set_incomplete(answer);
    answer.completeness->notes.push_back(problem);
  }
  answer.headline += found.counts();
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap async " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
