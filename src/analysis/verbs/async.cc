// `async`: which asynchronous calls are pending, and what do they wait for? Shows logical stacks, tasks by status, and
// the thread pool with its queued work.
#include "algorithms/paths/retained_by_each.h"
#include "analysis/answer_head.h"
#include "analysis/names/subject.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/threads/async_stacks.h"
#include "analysis/threads/pool_stands.h"
#include "analysis/threads/thread_pool.h"
#include "analysis/verbs/verbs.h"
#include "analysis/waits/wait_texts.h"
#include "base/error.h"
#include "base/text.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"
#include "report/columns_of.h"
#include "snapshot/source_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <re2/re2.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr u64 most_callers = 4; // shown in text

constexpr u64 most_searched = 32;       // kinds of calls, for any size of heap
constexpr u64 few_looks = u64{1} << 27; // limit of looks at objects, for all kinds together

// Returns what would be freed with the methods of each stack and the tasks between them. Costs a search for every
// five stacks, because callers and callees share much that none of them retains alone. Nullopt: not searched, because
// there are too many kinds of stacks, and this one alone retains less than those that were searched.
std::vector<std::optional<u64>> retained_by(const Snapshot &snapshot, const Tasks &tasks, const AsyncStacks &stacks) {
  const ObjectIndex &index = snapshot.index();
  const ObjectGraph &graph = snapshot.graph();
  const std::vector<u32> stack_of = stacks.stack_of_each();
  const u32 none = static_cast<u32>(stacks.stacks().size());
  std::vector<std::pair<u32, ObjectId>> members; // (stack, object)
  std::vector<u64> alone(none);
  const DominatorTree &tree = ranked_tree(snapshot)->tree;
  for (TaskNumber task = 0; task < tasks.count(); ++task)
    if (const u32 stack = stack_of[task]; stack < none)
      if (const ObjectId object = index.find(tasks.address(task)); object != no_object) {
        members.emplace_back(stack, object);
        if (const std::optional<TreePlace> place = tree.place(object))
          alone[stack] += tree.retained(*place).bytes;
      }
  std::sort(members.begin(), members.end());
  std::vector<u32> order(none);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return alone[a] > alone[b]; });
  order.resize(std::min<u64>(none, std::max(most_searched, few_looks / std::max<u64>(graph.objects(), 1))));
  std::vector<std::optional<u64>> out(none);
  for (u64 begin = 0; begin < order.size(); begin += most_sets_at_once) {
    const std::span<const u32> some =
        std::span(order).subspan(begin, std::min<u64>(most_sets_at_once, order.size() - begin));
    LargeArray<u8> set_of(graph.objects());
    for (u32 i = 0; i < some.size(); ++i)
      for (auto at = std::lower_bound(members.begin(), members.end(), std::pair(some[i], ObjectId(0)));
           at != members.end() && at->first == some[i]; ++at)
        set_of[static_cast<u32>(at->second)] = static_cast<u8>(1 + i);
    const std::vector<Retained> retained =
        retained_by_each(graph.edges(), snapshot.sizes(), snapshot.owned_roots(), std::move(set_of),
                         static_cast<u32>(some.size()), snapshot.threads(), snapshot.watch());
    for (u32 i = 0; i < some.size(); ++i)
      out[some[i]] = retained[i].bytes;
  }
  return out;
}

std::string with_line(const AsyncFrame &frame, SourceLines &lines) {
  const SourceLine line = await_line(frame, lines);
  return line ? frame.method + " " + line.text() : frame.method;
}

std::string callers(const AsyncStack &stack, SourceLines &lines) {
  std::string out;
  for (u64 i = 1; i < std::min<u64>(stack.frames.size(), 1 + most_callers); ++i)
    out += (i > 1 ? " ← " : "") + with_line(stack.frames[i], lines);
  if (stack.frames.size() > 1 + most_callers)
    out += fmt::format(" ← … {} more", count_text(stack.frames.size() - 1 - most_callers));
  return out;
}

// The calls that --type and --type-exact choose: by a method, the type of its state machine, its task, or what it
// awaits.
class AskedCalls {
public:
  AskedCalls(const Snapshot &snapshot, const Tasks &tasks, const Question &question)
      : types_(snapshot.runtime().types()), tasks_(tasks), exact_(question.type_exact),
        expression_(question.type_regex, quiet_expression()) {
    if (!expression_.ok())
      throw UsageError("--type " + question.type_regex + ": " + expression_.error());
    if (const std::optional<Address> address = written_address(exact_);
        address && exact_.starts_with("0x") && is_method_table(snapshot, *address))
      exact_ = types_.name(*address);
  }
  bool passes(const AsyncStack &stack) const {
    return std::ranges::any_of(stack.frames,
                               [&](const AsyncFrame &frame) {
                                 return fits(frame.method) || (frame.machine && fits(types_.name(frame.machine)));
                               }) ||
           fits(stack.awaits.type) || fits(tasks_.type(stack.example).name);
  }

private:
  static RE2::Options quiet_expression() {
    RE2::Options out;
    out.set_log_errors(false);
    return out;
  }
  bool fits(const std::string &name) const {
    return (exact_.empty() || exact_ == name) && RE2::PartialMatch(name, expression_);
  }

  TypeSystem &types_;
  const Tasks &tasks_;
  std::string exact_;
  const RE2 expression_;
};

report::Table calls_table(const Tasks &tasks, const AsyncStacks &stacks, const AskedCalls &asked,
                          const std::vector<std::optional<u64>> *retained, SourceLines &source_lines) {
  struct Call {
    const AsyncStack *stack;
    Cell retained;
    std::vector<Cell> methods, states, sources, lines; // by frame
    const AsyncFrame &first() const { return stack->frames.front(); }
  };
  std::vector<Call> all;
  u64 sum = 0, calls = 0;
  for (u64 i = 0; i < stacks.stacks().size(); ++i) {
    const AsyncStack &stack = stacks.stacks()[i];
    if (!asked.passes(stack))
      continue;
    sum += stack.count;
    calls += stack.calls;
    Call &call = all.emplace_back();
    call.stack = &stack;
    if (retained)
      call.retained = (*retained)[i];
    for (const AsyncFrame &frame : stack.frames) {
      call.methods.push_back(frame.method);
      call.states.push_back(frame.state);
      const SourceLine line = await_line(frame, source_lines);
      call.sources.push_back(report::text_cell(line.file));
      call.lines.push_back(line ? Cell(u64{line.line}) : Cell());
    }
  }
  using C = Call;
  report::ColumnsOf<C> columns = {{{"count", "Count", Kind::count}, [](const C &c) { return c.stack->count; }},
                                  {{"calls", "Calls", Kind::count}, [](const C &c) { return c.stack->calls; }}};
  if (retained)
    columns.add({{"retained", "Retained", Kind::bytes}, &C::retained});
  columns.add({{"method", "Method", Kind::text, Shown::in_data}, [](const C &c) { return c.first().method; }});
  columns.add({{"where", "Method", Kind::text, Shown::in_text},
               [&](const C &c) { return with_line(c.first(), source_lines); }});
  columns.add({{"state", "Await", Kind::number}, [](const C &c) { return c.first().state; }});
  columns.add({{"awaits", "Waits for", Kind::text}, [](const C &c) { return c.stack->awaits.what; }});
  columns.add({{"awaits_type", "Type", Kind::text, Shown::in_data},
               [](const C &c) { return report::text_cell(c.stack->awaits.type); }});
  columns.add(
      {{"called_by", "For", Kind::text, Shown::in_text}, [&](const C &c) { return callers(*c.stack, source_lines); }});
  columns.add({{"example", "Example", Kind::address}, [&](const C &c) { return tasks.address(c.stack->example); }});
  columns.add({{"stack", "Stack", Kind::nested, Shown::in_data}, &C::methods});
  columns.add({{"states", "States", Kind::nested, Shown::in_data}, &C::states});
  columns.add({{"sources", "", Kind::nested, Shown::in_data}, &C::sources});
  columns.add({{"lines", "", Kind::nested, Shown::in_data}, &C::lines});
  report::Table table = columns.table("calls", "", all);
  table.total = total_row(table, {{"count", sum}, {"calls", calls}, {"where", total_of(all.size(), "kind")}});
  if (retained)
    if (const i64 others = std::count(retained->begin(), retained->end(), std::nullopt))
      table.notes.push_back(
          fmt::format("Retained is computed for {} kinds of calls; none of the {} others alone holds as much",
                      count_text(retained->size() - static_cast<u64>(others)), count_text(static_cast<u64>(others))));
  return table;
}

report::Table tasks_table(Tasks &tasks) {
  struct Line {
    u64 count = 0, unobserved = 0;
    Address example = 0;
  };
  using Lines = std::map<std::pair<u32, TaskStatus>, Line>; // by type
  Lines lines;
  for (TaskNumber task = 0; task < tasks.count(); ++task) {
    if (!tasks.type(task).flags_at)
      continue; // not a task, but an object that is reused after completion
    Line &line = lines[{tasks.type_number(task), tasks.status(task)}];
    const bool unobserved = tasks.is_unobserved(task).value_or(false);
    if (!line.count || (unobserved && !line.unobserved))
      line.example = tasks.address(task);
    ++line.count;
    line.unobserved += unobserved;
  }
  // Unobserved exceptions come first.
  std::vector<const Lines::value_type *> sorted;
  for (const auto &one : lines)
    sorted.push_back(&one);
  auto rank = [&](const auto *one) {
    const auto &[key, line] = *one;
    return std::tuple(~line.unobserved, ~line.count, std::string_view(tasks.types()[key.first].name),
                      std::string_view(name_of(key.second)));
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto *a, const auto *b) { return rank(a) < rank(b); });
  using L = Lines::value_type;
  return report::ColumnsOf<L>{
      {{"count", "Count", Kind::count}, [](const L &l) { return l.second.count; }},
      {{"status", "Status", Kind::text}, [](const L &l) { return name_of(l.first.second); }},
      {{"unobserved", "Unobserved", Kind::count}, [](const L &l) { return l.second.unobserved; }},
      {{"example", "Example", Kind::address}, [](const L &l) { return l.second.example; }},
      {{"type", "Type", Kind::text}, [&](const L &l) { return tasks.types()[l.first.first].name; }}}
      .table("tasks", "Tasks by status", sorted);
}

// Returns the workers by their stacks, as `report` counts them. If no thread is known to be a worker (NativeAOT),
// returns the pool's own numbers.
PoolStands stands_of_pool(const Snapshot &snapshot, const ThreadPool &pool) {
  PoolStands out;
  Notes problems; // said where threads are listed
  if (pool.workers.existing) {
    const std::vector<ThreadData> threads = snapshot.runtime().threads(problems);
    out = find_pool_stands(snapshot.runtime(), threads, find_wait_texts(snapshot, threads, nullptr));
  }
  if (!out.workers) {
    out.workers = pool.workers.existing.value_or(0);
    out.idle = out.workers - std::min<u64>(out.workers, pool.workers.working.value_or(0));
    out.blocked = std::min<u64>(out.workers, pool.workers.blocked.value_or(0));
    if (out.blocked)
      out.waits.emplace("a task", out.blocked);
  }
  out.queued = pool.queued_items;
  out.is_queue_cut = pool.is_cut;
  return out;
}

// Returns the pool's numbers in words; empty if they are unknown.
std::string pool_text(const PoolWorkers &pool, const PoolStands &stands) {
  if (!pool.existing)
    return "";
  if (!stands.is_starved())
    return fmt::format("{} of {} workers {}, {}{} work item{} waiting", count_text(stands.workers - stands.idle),
                       count_text(stands.workers),
                       stands.blocked ? "are busy (" + count_text(stands.blocked) + " blocked: " + stands.text() + ")"
                                      : "are busy",
                       count_text(stands.queued), stands.is_queue_cut ? "+" : "", stands.queued == 1 ? "" : "s");
  return "STARVED: " + stands.starved_text() +
         (pool.most && stands.workers >= *pool.most ? fmt::format("; the pool has its maximum of {} worker{}",
                                                                  count_text(*pool.most), *pool.most == 1 ? "" : "s")
                                                    : "; the pool adds workers one by one");
}

report::Table pool_table(const ThreadPool &pool, const PoolStands &stands) {
  using P = PoolStands;
  const PoolWorkers &w = pool.workers;
  const std::vector<P> known(w.existing ? 1 : 0, stands);
  report::Table table = report::ColumnsOf<P>{
      {{"workers", "Workers", Kind::count}, &P::workers},
      {{"working", "Busy", Kind::count}, [](const P &p) { return p.workers - p.idle; }},
      {{"blocked", "Blocked", Kind::count}, &P::blocked},
      {{"in_task_wait", "In Task.Wait", Kind::count, Shown::in_data}, [&](const P &) { return w.blocked; }},
      {{"goal", "Goal", Kind::count}, [&](const P &) { return w.goal; }},
      {{"least", "Least", Kind::count}, [&](const P &) { return w.least; }},
      {{"most", "Most", Kind::count}, [&](const P &) { return w.most; }},
      {{"queued", "Queued", Kind::count}, &P::queued},
      {{"text", "In words", Kind::text}, [&](const P &p) {
         return pool_text(w, p);
       }}}.table("pool", "Thread pool", known);
  if (known.empty())
    table.shown = Shown::in_data;
  return table;
}

report::Table queued_table(const ThreadPool &pool) {
  using W = QueuedWork;
  report::Table table = report::ColumnsOf<W>{
      {{"count", "Count", Kind::count}, &W::count},
      {{"queue", "Queue", Kind::text}, &W::queue},
      {{"method", "Method", Kind::text}, [](const W &w) { return report::text_cell(w.method); }},
      {{"example", "Example", Kind::address}, &W::example},
      {{"type", "Type", Kind::text},
       &W::type}}.table("queued", "Work that waits for a worker", pool.queued);
  if (pool.queued.empty())
    table.shown = Shown::in_data;
  return table;
}

} // namespace

Plan plan_async(const Question &question) {
  Plan plan(Pass::index); // a live process is copied completely
  plan.then("walk").then("tasks").then("async stacks").then("walk");
  plan.perhaps(Pass::references); // what runtime-async calls keep
  if (question.by == "retained") {
    foresee_ranked(plan);
    plan.then("reachable without a set");
  }
  return plan;
}

report::Answer answer_async(const Snapshot &snapshot, const Question &question) {
  const bool asks_retained = question.by == "retained";
  report::Answer answer = begin_answer(snapshot, "async");
  Tasks tasks(snapshot);
  const ThreadPool pool = read_thread_pool(snapshot);
  const PoolStands stands = stands_of_pool(snapshot, pool);
  const AsyncStacks stacks(tasks, pool, snapshot.runtime(), snapshot.threads(), snapshot.watch());
  std::vector<std::optional<u64>> retained;
  if (asks_retained) {
    retained = retained_by(snapshot, tasks, stacks);
    add_root_notes(snapshot, answer);
    add_reference_notes(snapshot, answer);
  }
  SourceLines lines(snapshot);
  const AskedCalls asked(snapshot, tasks, question);
  answer.tables = {calls_table(tasks, stacks, asked, asks_retained ? &retained : nullptr, lines), tasks_table(tasks),
                   pool_table(pool, stands), queued_table(pool)};
  if (const u64 calls = stacks.pending_methods())
    answer.headline.facts += fmt::format("; {} call{} pending", count_text(calls), calls == 1 ? " is" : "s are");
  if (stands.is_starved())
    answer.headline.facts += "; thread pool " + pool_text(pool.workers, stands);
  answer.completeness->notes.add_all(lines.notes());
  if (stacks.shared())
    answer.completeness->notes.add(
        fmt::format("{} call{} something that others await as well (\"…, as others do\"): what they share is on the "
                    "stack of one of them only, so that each call counts once",
                    count_text(stacks.shared()), stacks.shared() == 1 ? " awaits" : "s await"));
  if (stacks.cycles())
    answer.completeness->notes.add(
        stacks.cycles() == 1
            ? "a method awaits itself, through others: it never ends"
            : fmt::format("{} methods await themselves, through others: they never end", count_text(stacks.cycles())));
  if (stacks.is_cut())
    answer.completeness->notes.add("there are more different stacks than can be counted: some calls are missing");
  if (const u64 broken = tasks.broken_chains())
    answer.completeness->notes.add(fmt::format("the calls of {} task{} are only partly known: their chains lead to an "
                                               "object that is not a call, or to a call of another task",
                                               count_text(broken), broken == 1 ? "" : "s"));
  for (const auto &[why, places] : tasks.suspended_calls().unknown())
    answer.completeness->notes.add(fmt::format("for {} place{} where calls resume the method is unknown: {}",
                                               count_text(places), places == 1 ? "" : "s", why));
  add_name_notes(snapshot, answer);
  if (!stacks.stacks().empty())
    answer.next_command =
        "dnheap path " + shell_word(question.target) + " " + hex(tasks.address(stacks.stacks().front().example));
  return answer;
}

} // namespace dnheap
