#include "analysis/threads/async_stacks.h"

#include "analysis/names/type_called.h"
#include "base/parallel.h"
#include "base/text.h"

#include <algorithm>
#include <limits>
#include <set>

namespace dnheap {

namespace {

constexpr u32 none = ~u32{0};
constexpr u64 block = 4096;         // methods per parallel step
constexpr u32 deepest = 1000;       // frames of a stack
constexpr u64 most_parts = 1 << 24; // different stacks while they are counted; further ones are not counted
constexpr u64 most_inner = 1 << 20; // tasks that one method awaits at once

enum ChainProgress : u8 { not_met, being_built, built };

// Names what is awaited, by the beginning of its type's name.
struct Word {
  const char *type, *what;
};
constexpr Word words[] = {
    {"System.Threading.Tasks.Task+DelayPromise", "delay"},
    {"System.Threading.SemaphoreSlim+TaskNode", "semaphore"},
    {"System.Threading.Channels.", "channel"},
    {"System.Net.Sockets.", "socket"},
    {"System.Net.Http.", "HTTP"},
    {"System.Net.Security.", "TLS"},
    {"System.Net.WebSockets.", "web socket"},
    {"System.IO.Pipelines.", "pipe"},
    {"System.IO.Pipes.", "pipe"},
    {"System.Threading.PeriodicTimer", "timer"},
    {"Microsoft.Win32.SafeHandles.SafeFileHandle", "file"},
    {"System.IO.", "stream"},
    {"System.Threading.Tasks.Task+WhenAllPromise", "all of several tasks"},
    {"System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise", "any of several tasks"},
    {"System.Threading.Tasks.Task+TwoTaskWhenAnyPromise", "any of several tasks"},
    {"System.Threading.Tasks.Task+CancellationPromise", "task, for a time"},
};

} // namespace

AsyncFrame frame_of(const Tasks &tasks, TaskNumber method) {
  const MachineShape *machine = tasks.machine(method);
  return {machine ? machine->method : tasks.type(method).name, tasks.state(method), machine ? machine->method_table : 0,
          machine ? machine->resumes_at.method_desc : 0, machine ? machine->resumes_at.ip : 0};
}

SourceLine await_line(const AsyncFrame &frame, SourceLines &lines) {
  if (frame.method_desc)
    return lines.find(frame.method_desc, frame.ip, false).at;
  return frame.machine && frame.state.value_or(-1) >= 0
             ? lines.find_await(frame.machine, static_cast<u32>(*frame.state))
             : SourceLine();
}

AsyncStacks::AsyncStacks(Tasks &tasks, const ThreadPool &pool, const Runtime &runtime, unsigned threads,
                         const Watch &watch)
    : tasks_(tasks), pool_(pool), runtime_(runtime), fields_(runtime), threads_(threads), watch_(watch) {
  Timer timer(watch, "async stacks");
  sources_ = tasks_.sources(watch);
  find_awaited();
  progress_.assign(tasks_.count(), not_met);
  first_part_.assign(tasks_.count(), 0);
  part_count_.assign(tasks_.count(), 0);
  is_on_stack_.assign(tasks_.count(), false);
  for (bool rest : {false, true}) // second pass: cycles, in which each method is awaited
    for (TaskNumber task = 0; task < tasks_.count(); ++task)
      if (is_pending_method(task) && progress_[task] == not_met && (rest || !is_awaited_[task])) {
        build(task);
        outermost_.emplace_back(task, none);
      }
  count_stacks();
}

void AsyncStacks::find_awaited() {
  awaited_.assign(tasks_.count(), no_task);
  parallel_for_parts(tasks_.count(), block, threads_, [&](u64 begin, u64 end, unsigned) {
    for (u64 at = begin; at < end; ++at)
      if (const auto task = static_cast<TaskNumber>(at); is_pending_method(task))
        awaited_[task] = tasks_.awaited_task(task);
  });
  is_awaited_.assign(tasks_.count(), false);
  for (TaskNumber task = 0; task < tasks_.count(); ++task) {
    if (!is_pending_method(task))
      continue;
    ++pending_;
    if (is_pending_method(awaited_[task]))
      is_awaited_[awaited_[task]] = true;
    else if (awaited_[task] != no_task && !sources_.empty())
      for (TaskNumber inner : inner_of(task).methods)
        is_awaited_[inner] = true;
  }
}

AsyncStacks::Inner AsyncStacks::inner_of(TaskNumber method) const {
  Inner out;
  const TaskNumber awaited = awaited_[method];
  if (is_pending_method(awaited)) {
    out.methods.push_back(awaited);
    return out;
  }
  if (awaited == no_task || !tasks_.is_pending(awaited))
    return out;
  std::vector<TaskNumber> waiting = {awaited};
  std::set<TaskNumber> seen = {awaited};
  while (!waiting.empty() && out.methods.size() + out.others.size() < most_inner) {
    const TaskNumber task = waiting.back();
    waiting.pop_back();
    const auto sources = pairs_of(sources_, task);
    if (sources.empty() && task != awaited)
      out.others.push_back(task);
    for (const auto &[one, source] : sources) {
      if (inner_left_ == 0) {
        is_cut_ = true;
        return out;
      }
      --inner_left_;
      if (is_pending_method(source))
        out.methods.push_back(source);
      else if (seen.insert(source).second)
        waiting.push_back(source);
    }
  }
  return out;
}

// Builds the stacks of `outermost`; each method is finished after those that it awaits.
void AsyncStacks::build(TaskNumber outermost) {
  struct Step {
    TaskNumber method;
    Inner inner;
    u64 next = 0;
  };
  std::vector<Step> steps;
  steps.push_back({outermost, inner_of(outermost)});
  progress_[outermost] = being_built;
  while (!steps.empty()) {
    Step &step = steps.back();
    if (step.next == step.inner.methods.size()) {
      finish(step.method, step.inner);
      steps.pop_back();
      continue;
    }
    const TaskNumber inner = step.inner.methods[step.next++];
    if (progress_[inner] != not_met)
      continue;
    progress_[inner] = being_built;
    steps.push_back({inner, inner_of(inner)});
  }
}

void AsyncStacks::finish(TaskNumber method, const Inner &inner) {
  first_part_[method] = static_cast<u32>(parts_.size());
  const u32 frame = frame_of(method);
  std::set<u32> things; // each kind of thing counts once, however many of its kind the method awaits
  auto innermost = [&](AwaitedThing awaited) {
    const u32 thing = thing_number(std::move(awaited));
    if (things.insert(thing).second)
      add_part(method, {node_number({frame, thing, true}, 1), 1, method, 0});
  };
  TaskNumber of_another = no_task;
  for (TaskNumber one : inner.methods) {
    if (progress_[one] == being_built) {
      ++cycles_;
      innermost({"itself, through others", ""});
      continue;
    }
    if (is_on_stack_[one]) {
      of_another = one;
      continue;
    }
    is_on_stack_[one] = true;
    for (u32 i = 0; i < part_count_[one]; ++i) {
      const Part part = parts_[first_part_[one] + i];
      const bool is_too_deep = depths_[part.node] >= deepest;
      const u32 node = is_too_deep ? part.node : node_number({frame, part.node, false}, depths_[part.node] + 1);
      add_part(method, {node, part.count, part.example, part.calls});
    }
  }
  for (TaskNumber one : inner.others)
    innermost(describe(method, one));
  if (inner.methods.empty() && inner.others.empty())
    innermost(describe(method, awaited_[method]));
  if (!part_count_[method] && of_another != no_task) {
    ++shared_;
    innermost({frames_[frame_of(of_another)].method + ", as others do", tasks_.type(of_another).name});
  }
  if (part_count_[method])
    ++parts_[first_part_[method]].calls;
  progress_[method] = built;
}

void AsyncStacks::add_part(TaskNumber method, const Part &part) {
  for (u32 i = 0; i < std::min<u32>(part_count_[method], 16); ++i) // equal parts mostly come one after the other
    if (Part &known = parts_[first_part_[method] + part_count_[method] - 1 - i]; known.node == part.node) {
      known.count += part.count;
      known.calls += part.calls;
      return;
    }
  if (parts_.size() >= most_parts && part_count_[method]) {
    is_cut_ = true;
    return;
  }
  parts_.push_back(part);
  ++part_count_[method];
}

u32 AsyncStacks::node_number(const Node &node, u32 depth) {
  auto [known, is_new] = node_numbers_.try_emplace(node, static_cast<u32>(nodes_.size()));
  if (is_new) {
    nodes_.push_back(node);
    depths_.push_back(depth);
  }
  return known->second;
}

u32 AsyncStacks::frame_of(TaskNumber method) {
  const MachineShape *machine = tasks_.machine(method);
  // Methods of unknown types are distinguished by type; a machine with unknown fields has no state.
  constexpr i32 no_state = std::numeric_limits<i32>::min();
  const i32 key = machine ? tasks_.state(method).value_or(no_state) : static_cast<i32>(tasks_.type_number(method));
  auto [known, is_new] = frame_numbers_.try_emplace({machine, key}, static_cast<u32>(frames_.size()));
  if (is_new)
    frames_.push_back(dnheap::frame_of(tasks_, method));
  return known->second;
}

u32 AsyncStacks::thing_number(AwaitedThing thing) {
  auto [known, is_new] = thing_numbers_.try_emplace(std::move(thing), static_cast<u32>(things_.size()));
  if (is_new)
    things_.push_back(known->first);
  return known->second;
}

AwaitedThing AsyncStacks::describe(TaskNumber method, TaskNumber task) {
  const Address object = task != no_task ? tasks_.address(task) : tasks_.awaited(method);
  Address mt = object ? method_table_of(runtime_.memory(), object) : 0;
  if (!mt) {
    const std::optional<i32> state = tasks_.state(method);
    const char *what = !state                                        ? "unknown"
                       : *state == -1                                ? "nothing: it runs"
                       : !tasks_.machine(method)->are_awaiters_known ? "unknown"
                       : is_queued(method)                           ? "its turn to run"
                                                                     : "other"; // an awaiter that holds no reference
    return {what, ""};
  }
  if (!runtime_.types().object_layout(mt))
    return {"unknown", ""};
  if (fields_.find(mt, "_source")) // a ValueTask converted to a task
    if (const Address source = fields_.reference_or_null(object, "_source"); source && fields_.type_of(source))
      mt = fields_.type_of(source);
  if (!runtime_.types().object_layout(mt))
    return {"unknown", ""};
  const std::string &type = runtime_.types().name(mt);
  if (task != no_task && !tasks_.is_pending(task))
    return {"its turn to run", type};
  for (const Word &word : words)
    if (type.starts_with(word.type))
      return {word.what, type};
  if (task == no_task)
    return {"other", type};
  const std::string called = tasks_.delegate_method(task);
  if (!called.empty())
    return {"task " + called + (tasks_.status(task) == TaskStatus::running ? ", which runs" : ""), type};
  return {is_type_called(type, "System.Threading.Tasks.Task") ? "TaskCompletionSource" : "task", type};
}

// True if a method whose awaiter holds no reference, as that of Task.Yield(), is waiting to run.
bool AsyncStacks::is_queued(TaskNumber method) const {
  const TaskNumber task = tasks_.task_of_call(method);
  return task != no_task ? tasks_.is_in_context(method) || pool_.suspended_tasks.contains(tasks_.address(task))
                         : tasks_.machine(method)->may_yield;
}

void AsyncStacks::count_stacks() {
  std::map<u32, Part> by_node;
  for (const auto &[method, stack] : outermost_)
    for (u32 i = 0; i < part_count_[method]; ++i) {
      const Part &part = parts_[first_part_[method] + i];
      auto [it, is_new] = by_node.try_emplace(part.node, part);
      if (!is_new) {
        it->second.count += part.count;
        it->second.calls += part.calls;
      }
    }
  std::vector<std::pair<AsyncStack, u32>> all; // with its node
  for (const auto &[node, part] : by_node) {
    AsyncStack stack;
    stack.count = part.count;
    stack.calls = part.calls;
    stack.example = part.example;
    stack.is_cut = depths_[node] >= deepest;
    u32 at = node;
    for (;; at = nodes_[at].inner) {
      stack.frames.push_back(frames_[nodes_[at].frame]);
      if (nodes_[at].is_innermost)
        break;
    }
    stack.awaits = things_[nodes_[at].inner];
    std::reverse(stack.frames.begin(), stack.frames.end());
    all.emplace_back(std::move(stack), node);
  }
  std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
    const AsyncStack &x = a.first, &y = b.first;
    return x.count != y.count ? x.count > y.count : std::tie(x.frames, x.awaits) < std::tie(y.frames, y.awaits);
  });
  std::map<u32, u32> number_of;
  for (auto &[stack, node] : all) {
    number_of[node] = static_cast<u32>(stacks_.size());
    stacks_.push_back(std::move(stack));
  }
  for (auto &[method, stack] : outermost_)
    stack = number_of[parts_[first_part_[method]].node];
}

std::vector<u32> AsyncStacks::stack_of_each() const {
  std::vector<u32> out(tasks_.count(), none);
  for (const auto &[outermost, stack] : outermost_) {
    std::vector<TaskNumber> waiting = {outermost};
    while (!waiting.empty()) {
      const TaskNumber method = waiting.back();
      waiting.pop_back();
      if (out[method] != none)
        continue;
      out[method] = stack;
      const Inner inner = inner_of(method);
      waiting.insert(waiting.end(), inner.methods.begin(), inner.methods.end());
      for (TaskNumber other : inner.others)
        if (out[other] == none)
          out[other] = stack;
    }
  }
  return out;
}

} // namespace dnheap
