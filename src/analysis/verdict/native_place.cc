#include "analysis/verdict/native_place.h"

#include "analysis/threads/system_libraries.h"
#include "analysis/threads/thread_text.h"
#include "base/text.h"
#include "snapshot/native_functions.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace dnheap {

namespace {

// Returns the native frames from where the signal came to the innermost managed method: those behind the signal's
// return point, if the thread handles the signal.
std::vector<const StackFrame *> frames_of_signal(const WalkedStack &stack) {
  std::vector<const StackFrame *> out;
  for (const StackFrame &frame : stack.frames) {
    if (frame.kind == StackFrame::Kind::explicit_)
      continue;
    if (frame.kind != StackFrame::Kind::native)
      break;
    if (frame.is_active)
      out.clear();
    out.push_back(&frame);
  }
  return out;
}

constexpr std::string_view malloc_damaged =
    "malloc found its blocks damaged: one was freed twice, or something wrote past the end of one";

class NativePlace {
public:
  explicit NativePlace(const Snapshot &snapshot) : runtime_(snapshot.runtime()), functions_(snapshot) {}

  std::string text(const WalkedStack &stack, bool aborted) {
    const std::vector<const StackFrame *> frames = frames_of_signal(stack);
    if (frames.empty())
      return "";
    const auto caller =
        std::find_if(frames.begin(), frames.end(), [&](const StackFrame *frame) { return !is_of_system(*frame); });
    if (caller == frames.begin())
      return name(*frames.front());
    if (caller != frames.end() && is_of_runtime(**caller) && waits_for_writer(*frames.front()))
      return "";
    const std::string callee =
        aborted ? outermost_named(std::span(frames).first(caller - frames.begin())) : name(*frames.front());
    return caller == frames.end() || is_of_runtime(**caller) ? callee : callee + ", called by " + name(**caller);
  }

  std::string caller(const WalkedStack &stack) {
    for (const StackFrame *frame : frames_of_signal(stack))
      if (!is_of_runtime(*frame) && !is_of_system(*frame))
        return name(*frame);
    return "";
  }

private:
  // The runtime that ends a process starts createdump, and waits for it. Where it does that says nothing.
  bool waits_for_writer(const StackFrame &frame) {
    const Module *module = module_of(frame);
    const std::string function = module ? functions_.find(*module, frame.ip, !frame.is_active) : "";
    constexpr std::string_view waits[] = {"wait4", "__wait4", "waitpid", "__waitpid"};
    return std::ranges::find(waits, std::string_view(function).substr(0, function.find('+'))) != std::end(waits);
  }
  const Module *module_of(const StackFrame &frame) const { return runtime_.target().find_module(frame.ip); }
  bool is_of_system(const StackFrame &frame) const {
    const Module *module = module_of(frame);
    return module && is_system_library(module->file_name());
  }
  // The runtime's own calls, such as its handler of signals, are no library of the program.
  bool is_of_runtime(const StackFrame &frame) const {
    const Module *module = module_of(frame);
    return !module || module->base == runtime_.module().base;
  }
  bool has_function(const StackFrame &frame) { // many of the system's functions are in no symbol table
    const Module *module = module_of(frame);
    return module && !functions_.find(*module, frame.ip, !frame.is_active).empty();
  }
  std::string outermost_named(std::span<const StackFrame *const> frames) {
    for (u64 i = frames.size(); i-- > 0;)
      if (has_function(*frames[i]))
        return name(*frames[i]);
    return name(*frames.front());
  }
  std::string name(const StackFrame &frame) {
    return place_text(runtime_.target(), functions_, frame.ip, !frame.is_active).name;
  }

  const Runtime &runtime_;
  NativeFunctions functions_;
};

} // namespace

std::string native_place(const Snapshot &snapshot, const WalkedStack &stack, bool aborted) {
  return NativePlace(snapshot).text(stack, aborted);
}

std::string native_caller(const Snapshot &snapshot, const WalkedStack &stack) {
  return NativePlace(snapshot).caller(stack);
}

std::string failure_in_words(std::string_view place) {
  struct Failure {
    std::string_view function, words;
  };
  constexpr Failure failures[] = {
      {"__stack_chk_fail", "a function wrote past the end of an array on its stack"},
      {"__fortify_fail", "a function of the C library was to write more than there is room for"},
      {"__chk_fail", "a function of the C library was to write more than there is room for"},
      {"__assert_fail", "an assertion does not hold; its text is in the process's standard error"},
      {"malloc_printerr", malloc_damaged},
      {"free", malloc_damaged},
      {"realloc", malloc_damaged},
      {"malloc", malloc_damaged},
      {"calloc", malloc_damaged},
  };
  const std::string_view library = place.substr(0, place.find('!'));
  if (library.size() == place.size() || !is_system_library(library))
    return "";
  std::string_view function = place.substr(library.size() + 1);
  function = function.substr(0, function.find_first_of("+,@ "));
  for (const auto &[name, words] : failures)
    if (function == name || (function.starts_with("__libc_") && function.substr(7) == name))
      return fmt::format("; {}", words);
  return "";
}

} // namespace dnheap
