#include "analysis/waits/kinds/console_waits.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 frames_looked_at = 8;
constexpr std::string_view writes = "System.ConsolePal.Write",
                           queue = "Microsoft.Extensions.Logging.Console.ConsoleLoggerProcessor.Enqueue",
                           out_lock = "System.IO.TextWriter+SyncTextWriter.";

// True if one of the innermost frames is a method whose name begins so.
bool stands_in(const Runtime &runtime, const WalkedStack &stack, std::string_view method) {
  const u64 end = std::min<u64>(stack.frames.size(), frames_looked_at);
  for (u64 i = 0; i < end; ++i)
    if (const StackFrame &frame = stack.frames[i];
        frame.method_desc && !frame.is_unwound && runtime.method_text(frame.method_desc).qualified.starts_with(method))
      return true;
  return false;
}

} // namespace

ConsoleWaits find_console_waits(const Snapshot &snapshot, std::span<const ThreadData> threads,
                                std::span<const WaitText> waits) {
  const Runtime &runtime = snapshot.runtime();
  ConsoleWaits out;
  for (u32 i = 0; i < threads.size() && !out.writer; ++i)
    if (waits[i].text == "the console" && stands_in(runtime, runtime.walk_stack(threads[i]), writes))
      out.writer = i;
  for (u32 i = 0; i < threads.size() && out.writer; ++i) {
    const bool may_wait = waits[i].text == "a lock" || waits[i].text == "a pulse (Monitor.Wait)" ||
                          waits[i].text == "a lock (System.Threading.Lock)";
    if (!may_wait || i == out.writer)
      continue;
    snapshot.watch().check();
    const WalkedStack stack = runtime.walk_stack(threads[i]);
    if (stands_in(runtime, stack, queue))
      out.in_queue.push_back(i);
    else if (stands_in(runtime, stack, out_lock))
      out.for_writer.push_back(i);
  }
  return out;
}

} // namespace dnheap
