#include "analysis/sampling/stack_samples.h"

#include "analysis/names/framework_names.h"
#include "analysis/threads/stack_tree.h"
#include "analysis/threads/thread_text.h"
#include "analysis/waits/thread_blocks.h"
#include "base/share.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/facts/thread_details.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;
using report::text_cell;

constexpr u64 most_stacks = 1 << 18, most_methods = 1 << 20; // kept
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
  std::pair<std::string, u64> out;
  for (const auto &[text, count] : counts)
    if (count > out.second)
      out = {text, count};
  return out;
}

} // namespace

void StackSamples::add(const Snapshot &snapshot, const std::set<u64> &running) {
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
  std::map<std::string, std::pair<u64, std::set<u32>>> waited_for; // lock → waiters, owners
  for (u32 i = 0; i < threads.size(); ++i) {
    const u64 os_id = threads[i].os_id.value_or(0);
    if (!os_id)
      continue;
    const Stand &stand = stands[i];
    const bool runs = running.contains(os_id);
    ThreadSeen &seen = threads_[os_id];
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
    if (const auto known = stacks_.find(stand.methods); known != stacks_.end() || stacks_.size() < most_stacks)
      ++(runs ? stacks_[stand.methods].running : stacks_[stand.methods].waiting);
    else
      ++left_out_;
    for (const ThreadBlock &block : stand.blocked.blocks)
      if (block.owner || block.kind == ThreadBlock::Kind::monitor || block.kind == ThreadBlock::Kind::lock) {
        auto &[waiters, owners] = waited_for[lock_text(runtime, block)];
        ++waiters;
        if (block.owner && *block.owner != i)
          owners.insert(*block.owner);
      }
  }
  for (const auto &[text, waits] : waited_for) {
    LockSeen &lock = locks_[text];
    ++lock.samples;
    lock.waiters += waits.first;
    lock.most = std::max(lock.most, waits.first);
    for (u32 owner : waits.second) {
      const Stand &holder = stands[owner];
      ++lock.holders[fmt::format("thread {}{} in {}", threads[owner].os_id.value_or(0),
                                 holder.name.empty() ? "" : " (" + printable(holder.name) + ")",
                                 holder.place.empty() ? no_method : holder.place)];
    }
  }
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
  std::vector<std::string> out;
  for (const auto &[text, lock] : locks_) {
    const auto [holder, times] = most_of(lock.holders);
    if (share_of(lock.samples, samples_) < much || holder.empty())
      continue;
    out.push_back(fmt::format("In {} of {} samples, {} waited for {}; in {} of them it was held by {}.", lock.samples,
                              samples_, lock.most == 1 ? "a thread" : fmt::format("up to {} threads", lock.most), text,
                              times, holder));
  }
  if (const auto [place, times] = most_of(running_in_); times && place != no_method)
    out.push_back(fmt::format("{:.1f} threads ran on average; {:.0f} % of that was in {}.",
                              static_cast<double>(running_) / static_cast<double>(samples_),
                              100 * share_of(times, running_), place));
  else if (!running_)
    out.push_back("No thread ran in any of the samples: all of them waited.");
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
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row &a, const Row &b) { return a.seen->running > b.seen->running; });
  auto main_place = [](const Row &r) { return most_of(r.seen->running ? r.seen->running_places : r.seen->places); };
  return report::ColumnsOf<Row>{
      {{"os_id", "OS id", Kind::number}, &Row::os_id},
      {{"name", "Name", Kind::text, Shown::everywhere, false, true},
       [](const Row &r) { return text_cell(r.seen->name); }},
      {{"samples", "Samples", Kind::count}, [](const Row &r) { return r.seen->samples; }},
      {{"running", "Running", Kind::count, Shown::in_data}, [](const Row &r) { return r.seen->running; }},
      {{"share", "Running", Kind::percent}, [](const Row &r) { return share_of(r.seen->running, r.seen->samples); }},
      {{"place", "Mostly in", Kind::text}, [=](const Row &r) { return main_place(r).first; }},
      {{"place_samples", "Times", Kind::count}, [=](const Row &r) { return main_place(r).second; }},
      {{"waits_for", "Waits mostly for", Kind::text},
       [](const Row &r) { return text_cell(most_of(r.seen->waits).first); }}}
      .table("threads", "Threads", rows);
}

report::Table StackSamples::locks_table() const {
  struct Row {
    std::string text;
    const LockSeen *seen;
  };
  std::vector<Row> rows;
  for (const auto &[text, seen] : locks_)
    rows.push_back({text, &seen});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row &a, const Row &b) { return a.seen->waiters > b.seen->waiters; });
  report::Table table = report::ColumnsOf<Row>{
      {{"lock", "Lock", Kind::text}, &Row::text},
      {{"samples", "Samples", Kind::count}, [](const Row &r) { return r.seen->samples; }},
      {{"waiters", "Waiters, at most", Kind::count}, [](const Row &r) { return r.seen->most; }},
      {{"holder", "Mostly held by", Kind::text},
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
                   {"methods", "Methods, innermost first", Kind::nested}};
  std::vector<report::Row> rows;
  for (const bool runs : {true, false})
    for (const auto &[stack, seen] : stacks_)
      if (const u64 samples = runs ? seen.running : seen.waiting) {
        std::vector<Cell> methods;
        for (u32 method : stack)
          methods.push_back(methods_[method]);
        rows.push_back({samples, runs ? "running" : "waiting", std::move(methods)});
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
