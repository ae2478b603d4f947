#include "analysis/threads/pool_places.h"

#include "analysis/names/compiled_names.h"
#include "analysis/names/source_line_text.h"
#include "base/text.h"
#include "runtime/facts/thread_details.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 frames_of_waits = 16; // from the innermost on, where a call that blocks stands

struct BlockingCall {
  std::string_view method, words;
};
// The outermost of these on a stack counts, as the program called that one.
constexpr BlockingCall blocking_calls[] = {
    {"System.Threading.Tasks.Task.WaitAllCore", "Task.WaitAll"},
    {"System.Threading.Tasks.Task.WaitAll", "Task.WaitAll"},
    {"System.Threading.Tasks.Task.WaitAny", "Task.WaitAny"},
    {"System.Threading.Tasks.Task.Wait", "Task.Wait"},
    {"System.Threading.Tasks.Task.InternalWait", "Task.Wait"},
    {"System.Runtime.CompilerServices.TaskAwaiter", "GetAwaiter().GetResult()"},
    {"System.Runtime.CompilerServices.ConfiguredTaskAwaitable", "GetAwaiter().GetResult()"},
    {"System.Runtime.CompilerServices.ValueTaskAwaiter", "GetAwaiter().GetResult()"},
};

// "System.Threading.Tasks.Task<System.Int32>.get_Result", "….GetResultCore": the wait is for the task's result.
bool is_result(std::string_view method) {
  return method.starts_with("System.Threading.Tasks.Task<") &&
         (method.ends_with(".get_Result") || method.ends_with(".GetResultCore"));
}

std::string words_of(std::string_view method) {
  if (is_result(method))
    return "Task.Result";
  auto found =
      std::ranges::find_if(blocking_calls, [&](const BlockingCall &call) { return method.starts_with(call.method); });
  return found != std::end(blocking_calls) ? std::string(found->words) : "";
}

bool is_worker(const Runtime &runtime, const ThreadData &thread) {
  return (runtime.thread_details(thread).state.value_or(0) & ThreadDetails::pool_worker) != 0;
}

// Only the first threads of a large group are known: if these are all workers, so are the others.
u64 workers_of(const Runtime &runtime, std::span<const ThreadData> threads, const ThreadGroup &group) {
  const u64 known = static_cast<u64>(std::ranges::count_if(
      group.threads, [&](u32 thread) { return thread < threads.size() && is_worker(runtime, threads[thread]); }));
  return known == group.threads.size() ? group.count : known;
}

// A method that an expression tree became has a name that no source has.
std::string method_of(const ThreadGroup &group) {
  constexpr std::string_view dynamic = "DynamicClass.";
  return group.method.starts_with(dynamic) ? "a method made at run time (" + group.method.substr(dynamic.size()) + ")"
                                           : group.method;
}

} // namespace

std::string blocking_call(const Runtime &runtime, const WalkedStack &stack) {
  std::string out;
  u64 looked_at = 0;
  for (const StackFrame &frame : stack.frames) {
    if (!frame.method_desc || frame.is_unwound || frame.kind != StackFrame::Kind::method)
      continue;
    const std::string method = runtime.method_text(frame.method_desc).qualified;
    if (!method.starts_with("System.") || ++looked_at > frames_of_waits)
      break;
    if (std::string words = words_of(method); !words.empty())
      out = std::move(words);
    else if (!out.empty())
      break;
  }
  return out;
}

std::string place_of_workers(const Runtime &runtime, std::span<const ThreadData> threads,
                             std::span<const ThreadGroup> groups, bool is_any_blocked, SourceLines &lines) {
  const ThreadGroup *most = nullptr;
  u64 count = 0;
  for (const ThreadGroup &group : groups)
    if (!is_any_blocked || !group.waits_for.empty())
      if (const u64 workers = workers_of(runtime, threads, group); workers > count)
        most = &group, count = workers;
  if (!most)
    return "";
  const bool is_one = count == 1;
  const std::string doing = most->waits_for.empty() ? is_one ? "runs" : "run" : wait_in_words(most->waits_for, !is_one);
  const std::string by = most->waits_for == "a task" && most->threads.front() < threads.size()
                             ? blocking_call(runtime, runtime.walk_stack(threads[most->threads.front()]))
                             : "";
  return fmt::format("{} {} in {}{}{}", count_text(count), doing, method_of(*most),
                     line_in_brackets(lines.find(most->method_desc, most->ip, !most->is_active).at),
                     !by.empty()           ? ", by " + by
                     : most->calls.empty() ? ""
                                           : ", which calls " + most->calls);
}

std::string work_in_queue(const ThreadPool &pool, const FrameworkNames &framework) {
  const QueuedWork *most = nullptr;
  for (const QueuedWork &work : pool.queued)
    if (!work.method.empty() && !framework.contain(work.method) && (!most || work.count > most->count))
      most = &work;
  if (!most)
    return "";
  return fmt::format("{} of the items run{} {}", count_text(most->count), most->count == 1 ? "s" : "",
                     method_in_words(most->method));
}

} // namespace dnheap
