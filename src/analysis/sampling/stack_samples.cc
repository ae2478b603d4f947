#include "analysis/sampling/stack_samples.h"

#include "analysis/names/call_text.h"
#include "analysis/names/framework_names.h"
#include "analysis/threads/stack_tree.h"
#include "analysis/threads/thread_text.h"
#include "analysis/waits/thread_blocks.h"
#include "base/most_frequent.h"
#include "base/share.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/facts/thread_details.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <tuple>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;
using report::text_cell;

constexpr u64 most_stacks = 1 << 18, most_methods = 1 << 20, most_locks = 1 << 16; // kept
constexpr const char *no_method = "(no managed method)";

std::string lock_text(const Runtime &runtime, const ThreadBlock &block) {
  using enum ThreadBlock::Kind;
  const std::string &type = runtime.types().name(
      block.kind == static_constructor ? block.object : method_table_of(runtime.memory(), block.object));
  switch (block.kind) {
  case static_constructor: return "the static constructor of " + type;
  case monitor: return "Monitor of " + type;
  case pulse: return "a pulse of " + type;
  case join: return "the end of a thread";
  default: return type;
  }
}

// Returns the text that occurs most often, and how often.
std::pair<std::string, u64> most_of(const std::map<std::string, u64> &counts) {
  const auto most = most_frequent(counts);
  if (most == counts.end())
    return {};
  return *most;
}

} // namespace

std::optional<double> StackSamples::ThreadSeen::processor() const {
  constexpr double ticks_per_second = 100;
  if (last <= first)
    return std::nullopt;
  return std::min(1.0, static_cast<double>(last_ticks - std::min(first_ticks, last_ticks)) / ticks_per_second /
                           (last - first));
}

void StackSamples::add(const Snapshot &snapshot, const std::map<u64, SystemThread> &system, double seconds) {
  const Runtime &runtime = snapshot.runtime();
  Notes notes;
  const std::vector<ThreadData> threads = runtime.threads(notes);
  for (const Note &note : notes)
    ++problems_[note.text];
  ThreadBlocks blocks(snapshot, threads, ThreadBlocks::Heap::is_not_walked);
  const FrameworkNames framework(snapshot.assemblies());
  struct Stand {
    std::string place; // the program's innermost method, else any
    std::string name;
    std::vector<u32> methods;
    ThreadBlocked blocked;
    WaitText wait;
  };
  std::vector<Stand> stands(threads.size());
  ++samples_;
  for (u32 i = 0; i < threads.size(); ++i) {
    const ThreadData &thread = threads[i];
    if (!thread.os_id.value_or(0))
      continue;
    const WalkedStack stack = runtime.walk_stack(thread);
    if (!stack.is_complete())
      ++problems_[stack.why_not];
    const std::vector<const StackFrame *> frames = method_frames(stack);
    Stand &stand = stands[i];
    stand.wait = waits_for(runtime, stack);
    stand.blocked = blocks.find(i, stack, stand.wait);
    stand.name = thread_name(runtime, runtime.thread_details(thread));
    for (const StackFrame *frame : frames) {
      const std::string method = frame_text(runtime, *frame).qualified;
      stand.methods.push_back(number_of(method));
      if (stand.place.empty() && !framework.contain(method))
        stand.place = method;
    }
    if (stand.place.empty() && !frames.empty())
      stand.place = frame_text(runtime, *frames.front()).qualified;
  }
  struct Waits {
    u64 waiters = 0;
    std::set<u32> owners;
  };
  std::map<std::pair<std::string, Address>, Waits> waited_for;
  std::set<u64> managed;
  for (u32 i = 0; i < threads.size(); ++i) {
    const u64 os_id = threads[i].os_id.value_or(0);
    if (!os_id)
      continue;
    managed.insert(os_id);
    const auto of_system = system.find(os_id);
    const Stand &stand = stands[i];
    const bool runs = of_system != system.end() && of_system->second.is_ready;
    ThreadSeen &seen = threads_[os_id];
    seen.is_managed = true;
    if (!stand.name.empty())
      seen.name = stand.name;
    ++seen.samples;
    seen.running += runs;
    running_ += runs;
    const std::string place = stand.place.empty() ? no_method : stand.place;
    ++(runs ? seen.running_places : seen.places)[place];
    if (runs)
      ++running_in_[place];
    else if (!stand.blocked.blocks.empty())
      ++seen.waits[lock_text(runtime, stand.blocked.blocks.front())];
    else if (!stand.wait.text.empty())
      ++seen.waits[stand.wait.text];
    add_stack(stand.methods, runs);
    for (const ThreadBlock &block : stand.blocked.blocks)
      if (block.owner || block.kind == ThreadBlock::Kind::monitor || block.kind == ThreadBlock::Kind::lock) {
        Waits &waits = waited_for[{lock_text(runtime, block), block.object}];
        ++waits.waiters;
        if (block.owner && *block.owner != i)
          waits.owners.insert(*block.owner);
      }
  }
  for (const auto &[lock, waits] : waited_for) {
    if (locks_.size() >= most_locks && !locks_.contains(lock))
      continue;
    LockSeen &seen = locks_[lock];
    seen.text = lock.first;
    ++seen.samples;
    seen.waiters += waits.waiters;
    seen.most = std::max(seen.most, waits.waiters);
    for (u32 owner : waits.owners) {
      const Stand &holder = stands[owner];
      ++seen.holders[fmt::format("thread {}{} in {}", threads[owner].os_id.value_or(0),
                                 holder.name.empty() ? "" : " (" + printable(holder.name) + ")",
                                 holder.place.empty() ? no_method : holder.place)];
    }
  }
  // Threads of native code: the GC's and the JIT's among them.
  u64 halted = 0;
  for (const auto &[id, thread] : system) {
    halted += thread.is_halted;
    if (managed.contains(id))
      continue;
    const std::string place = "(native thread " + printable(thread.name) + ")";
    ThreadSeen &seen = threads_[id];
    seen.name = thread.name;
    ++seen.samples;
    seen.running += thread.is_ready;
    running_ += thread.is_ready;
    ++(thread.is_ready ? seen.running_places : seen.places)[place];
    if (thread.is_ready)
      ++running_in_[place];
    add_stack({number_of(place)}, thread.is_ready);
  }
  halted_ += halted && halted == system.size();
  note_ticks(system, seconds);
}

void StackSamples::note_ticks(const std::map<u64, SystemThread> &system, double seconds) {
  for (const auto &[id, thread] : system) {
    const auto seen = threads_.find(id);
    if (seen == threads_.end())
      continue;
    ThreadSeen &of = seen->second;
    if (of.samples == 1) {
      of.first_ticks = thread.ticks;
      of.first = seconds;
    }
    of.last_ticks = thread.ticks;
    of.last = seconds;
  }
}

void StackSamples::add_stack(const std::vector<u32> &methods, bool runs) {
  const auto known = stacks_.find(methods);
  if (known == stacks_.end() && stacks_.size() >= most_stacks) {
    ++problems_["more different stacks than are kept"];
    return;
  }
  StackSeen &seen = stacks_[methods];
  ++(runs ? seen.running : seen.waiting);
}

u32 StackSamples::number_of(const std::string &method) {
  if (methods_.empty())
    methods_.push_back("(other methods)");
  const auto known = numbers_.find(method);
  if (known != numbers_.end())
    return known->second;
  if (methods_.size() >= most_methods)
    return 0;
  methods_.push_back(method);
  return numbers_[method] = static_cast<u32>(methods_.size() - 1);
}

std::vector<std::string> StackSamples::methods_of(const std::vector<u32> &stack) const {
  std::vector<std::string> out;
  for (u32 method : stack)
    out.push_back(methods_[method]);
  return out;
}

std::vector<std::string> StackSamples::findings() const {
  constexpr double much = 0.3; // of the samples
  constexpr u64 most_findings = 4;
  std::vector<std::string> out;
  if (halted_ == samples_)
    return {"All threads were stopped by a signal or a debugger in every sample: the process itself does nothing."};
  std::vector<const LockSeen *> locks;
  for (const auto &[key, lock] : locks_)
    if (share_of(lock.samples, samples_) >= much && !lock.holders.empty())
      locks.push_back(&lock);
  std::ranges::stable_sort(locks, std::greater<>(), &LockSeen::waiters);
  for (u64 i = 0; i < std::min<u64>(locks.size(), most_findings); ++i) {
    const LockSeen &lock = *locks[i];
    const auto [holder, times] = most_of(lock.holders);
    out.push_back(fmt::format(
        "In {} of {} samples, {} waited for one lock ({}); in {} of them it was held by {}.", lock.samples, samples_,
        lock.most == 1 ? "a thread" : fmt::format("up to {} threads", lock.most), lock.text, times, holder));
  }
  if (locks.size() > most_findings)
    out.push_back(fmt::format("{} more locks were waited for as often.", count_text(locks.size() - most_findings)));
  double processors = 0;
  for (const auto &[id, thread] : threads_)
    processors += thread.processor().value_or(0);
  const auto [place, times] = most_of(running_in_);
  if (times)
    out.push_back(fmt::format("The process used {:.1f} processors; most often ({:.0f} % of the threads that were seen "
                              "running) in {}.",
                              processors, 100 * share_of(times, running_), place));
  else
    out.push_back(fmt::format("No thread was seen running; the process used {:.2f} processors.", processors));
  return out;
}

report::Table StackSamples::threads_table() const {
  struct Row {
    u64 os_id;
    const ThreadSeen *seen;
  };
  std::vector<Row> rows;
  for (const auto &[os_id, seen] : threads_)
    rows.push_back({os_id, &seen});
  auto order = [](const Row &row) {
    return std::tuple(-row.seen->processor().value_or(0), ~row.seen->running, !row.seen->is_managed);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row &a, const Row &b) { return order(a) < order(b); });
  auto main_place = [](const Row &r) { return most_of(r.seen->running ? r.seen->running_places : r.seen->places); };
  return report::ColumnsOf<Row>{
      {{"os_id", "OS id", Kind::number}, &Row::os_id},
      {{"name", "Name", Kind::text, Shown::everywhere, false, true},
       [](const Row &r) { return text_cell(r.seen->name); }},
      {{"managed", "", Kind::boolean, Shown::in_data}, [](const Row &r) { return r.seen->is_managed; }},
      {{"samples", "Samples", Kind::count}, [](const Row &r) { return r.seen->samples; }},
      {{"running", "Seen running", Kind::count}, [](const Row &r) { return r.seen->running; }},
      {{"processor", "Processor", Kind::percent},
       [](const Row &r) {
         const std::optional<double> share = r.seen->processor();
         return share ? Cell(*share) : Cell();
       }},
      {{"place", "Most often in", Kind::text}, [=](const Row &r) { return main_place(r).first; }},
      {{"place_samples", "Times", Kind::count}, [=](const Row &r) { return main_place(r).second; }},
      {{"waits_for", "Waits most often for", Kind::text},
       [](const Row &r) { return text_cell(most_of(r.seen->waits).first); }}}
      .table("threads", "Threads", rows);
}

report::Table StackSamples::locks_table() const {
  struct Row {
    Address object;
    const LockSeen *seen;
  };
  std::vector<Row> rows;
  for (const auto &[key, seen] : locks_)
    rows.push_back({key.second, &seen});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row &a, const Row &b) { return a.seen->waiters > b.seen->waiters; });
  report::Table table = report::ColumnsOf<Row>{
      {{"lock", "Lock", Kind::text}, [](const Row &r) { return r.seen->text; }},
      {{"object", "Object", Kind::address}, &Row::object},
      {{"samples", "Samples", Kind::count}, [](const Row &r) { return r.seen->samples; }},
      {{"waiters", "Waiters, at most", Kind::count}, [](const Row &r) { return r.seen->most; }},
      {{"holder", "Most often held by", Kind::text},
       [](const Row &r) { return text_cell(most_of(r.seen->holders).first); }},
      {{"holder_samples", "Times", Kind::count}, [](const Row &r) {
         return most_of(r.seen->holders).second;
       }}}.table("locks", "Locks that were waited for", rows);
  if (rows.empty())
    table.shown = Shown::in_data;
  return table;
}

report::Table StackSamples::stacks_table() const {
  report::Table table;
  table.name = "stacks";
  table.shown = Shown::in_data;
  table.columns = {{"samples", "Samples", Kind::count},
                   {"state", "State", Kind::text},
                   {"methods", "", Kind::nested, Shown::in_data},
                   {"method", "Methods, innermost first", Kind::text, Shown::in_text}};
  constexpr const char *between = " ← ";
  std::vector<report::Row> rows;
  for (const bool runs : {true, false})
    for (const auto &[stack, seen] : stacks_)
      if (const u64 samples = runs ? seen.running : seen.waiting) {
        const std::vector<std::string> methods = methods_of(stack);
        rows.push_back({samples, runs ? "running" : "waiting", std::vector<Cell>(methods.begin(), methods.end()),
                        fmt::format("{}", fmt::join(folded_calls(methods, between), between))});
      }
  std::stable_sort(rows.begin(), rows.end(), [](const report::Row &a, const report::Row &b) {
    return *a[0].get_if<u64>() > *b[0].get_if<u64>();
  });
  table.set_rows(std::move(rows));
  return table;
}

std::vector<report::Table> StackSamples::tree_tables() const {
  std::vector<report::Table> out;
  for (const bool runs : {true, false}) {
    std::vector<AlikeStacks> alike;
    u64 without = 0;
    for (const auto &[stack, seen] : stacks_)
      if (const u64 samples = runs ? seen.running : seen.waiting) {
        if (stack.empty())
          without += samples;
        else
          alike.push_back({methods_of(stack), samples});
      }
    if (alike.empty())
      continue;
    report::Table tree;
    tree.name = runs ? "running_tree" : "waiting_tree";
    tree.title = runs ? "Where threads ran" : "Where threads waited";
    tree.shown = Shown::in_text;
    tree.columns = {{"samples", "Samples", Kind::count}, {"method", "Methods, outermost first", Kind::text}};
    std::vector<report::Row> lines;
    for (StackTreeLine &line : stack_tree(alike))
      lines.push_back({line.threads, std::move(line.text)});
    if (without)
      lines.push_back({without, no_method});
    tree.set_rows(std::move(lines));
    out.push_back(std::move(tree));
  }
  return out;
}

} // namespace dnheap
