#include "analysis/threads/native_places.h"

#include "analysis/threads/system_libraries.h"
#include "analysis/threads/thread_text.h"
#include "base/text.h"
#include "runtime/library_names.h"
#include "snapshot/native_functions.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

constexpr u64 most_followed = 64; // threads: some ms each

// True for libraries in which threads of all programs wait: what they do there is the caller's matter.
bool is_of_system(const Snapshot &snapshot, const Module &module) {
  const std::string name = printable(module.file_name(), 200);
  constexpr std::string_view begins[] = {"libclr", "libSystem.", "win32u", "ws2_32", "System.", "Microsoft."};
  return &module == &snapshot.runtime().module() || is_runtime_library(name) || is_host_library(name) ||
         is_musl_library(name) || is_system_library(name) ||
         std::ranges::any_of(begins, [&](std::string_view begin) { return name.starts_with(begin); });
}

// Returns the innermost native function outside of these libraries, further in than all methods; empty: there is none.
std::string native_place(const Snapshot &snapshot, NativeFunctions &functions, const WalkedStack &stack) {
  for (const StackFrame &frame : stack.frames) {
    if (frame.kind == StackFrame::Kind::method)
      break;
    const Module *module = frame.kind == StackFrame::Kind::native ? snapshot.target().find_module(frame.ip) : nullptr;
    if (!module || is_of_system(snapshot, *module))
      continue;
    const std::string function = functions.find(*module, frame.ip, !frame.is_active);
    return printable(module->file_name(), 200) +
           (function.empty() ? "" : "!" + function.substr(0, function.rfind('+')));
  }
  return "";
}

} // namespace

void name_native_places(const Snapshot &snapshot, std::span<const ThreadData> threads,
                        std::vector<ThreadGroup> &groups) {
  NativeFunctions functions(snapshot);
  u64 followed = 0;
  std::vector<ThreadGroup> named;
  for (ThreadGroup &group : groups) {
    if (!group.is_in_native)
      continue;
    std::map<std::string, std::vector<u32>> places;
    for (const u32 thread : group.threads)
      if (thread < threads.size() && followed++ < most_followed)
        if (const std::string place =
                native_place(snapshot, functions, snapshot.runtime().walk_stack(threads[thread], ListedFrames::all));
            !place.empty())
          places[place].push_back(thread);
    for (const auto &[place, of] : places) {
      ThreadGroup one = group;
      one.calls = place;
      one.threads = of;
      // Threads that were not followed are counted where all the others are.
      one.count = places.size() == 1 && of.size() == group.threads.size() ? group.count : of.size();
      group.count -= one.count;
      named.push_back(std::move(one));
    }
    group.is_in_native = false; // the rest: no such function is known
  }
  std::erase_if(groups, [](const ThreadGroup &group) { return !group.count; });
  std::ranges::move(named, std::back_inserter(groups));
}

} // namespace dnheap
