#include "analysis/verdict/process_exit.h"

#include "analysis/names/source_line_text.h"
#include "runtime/facts/thread_details.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 main_thread = 1; // its managed id
constexpr std::string_view exit_method = "System.Environment.Exit", finalizer = ".Finalize";

std::optional<u32> finalizer_thread(const Runtime &runtime, std::span<const ThreadData> threads) {
  for (u32 i = 0; i < threads.size(); ++i)
    if (threads[i].os_id.value_or(0) && runtime.thread_details(threads[i]).is_finalizer)
      return i;
  return std::nullopt;
}

// Returns what the thread runs; nullopt: nothing, or something of the runtime's own.
std::optional<bool> runs_handler(const Snapshot &snapshot, const ThreadData &thread) {
  const Runtime &runtime = snapshot.runtime();
  const WalkedStack stack = runtime.walk_stack(thread);
  const FrameworkNames framework(snapshot.assemblies());
  std::optional<bool> out;
  for (const StackFrame *frame : method_frames(stack)) {
    if (!frame->method_desc)
      continue;
    const std::string method = runtime.method_text(frame->method_desc).qualified;
    if (method.ends_with(finalizer))
      return false;
    if (!framework.contain(method))
      out = true;
  }
  return out;
}

// True if the thread has left all managed methods.
bool has_returned(const Runtime &runtime, const ThreadData &thread) {
  if (thread.managed_id != main_thread || !thread.os_id.value_or(0))
    return false;
  const WalkedStack stack = runtime.walk_stack(thread);
  return stack.why_not.empty() && method_frames(stack).empty();
}

} // namespace

std::optional<ProcessExit> find_process_exit(const Snapshot &snapshot, std::span<const ThreadData> threads,
                                             std::span<const ThreadGroup> groups, SourceLines &lines) {
  const Runtime &runtime = snapshot.runtime();
  const std::optional<u32> runner = finalizer_thread(runtime, threads);
  const std::optional<bool> is_handler = runner ? runs_handler(snapshot, threads[*runner]) : std::nullopt;
  if (!is_handler)
    return std::nullopt;
  const auto caller = std::ranges::find_if(
      groups, [](const ThreadGroup &group) { return group.calls == exit_method && !group.threads.empty(); });
  if (caller != groups.end()) {
    const u32 thread = caller->threads.front();
    const std::string name = thread_name(runtime, runtime.thread_details(threads[thread]));
    const SourceLine line = lines.find(caller->method_desc, caller->ip, !caller->is_active).at;
    return ProcessExit{fmt::format("thread {} called Environment.Exit in {}{}",
                                   name.empty() ? std::to_string(threads[thread].os_id.value_or(0)) : name,
                                   caller->method, line_in_brackets(line)),
                       thread, *runner, *is_handler};
  }
  // A finalizer that waits does not show that the process ends.
  const bool has_main_returned =
      *is_handler && std::ranges::any_of(threads, [&](const ThreadData &one) { return has_returned(runtime, one); });
  return has_main_returned ? std::optional(ProcessExit{"Main has returned", {}, *runner, true}) : std::nullopt;
}

} // namespace dnheap
