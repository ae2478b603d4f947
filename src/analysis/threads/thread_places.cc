#include "analysis/threads/thread_places.h"

#include "analysis/names/compiled_names.h"
#include "analysis/names/source_line_text.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 frames_looked_at = 64; // from the innermost on, to find a method of the program
constexpr u64 most_of_a_group = 64;  // threads of a group that are kept
constexpr u64 most_groups = 1 << 16;

// Native calls that wait, by the end of .NET's method for them. waits_for() does not know them, since a thread that
// reads what is there already is in them, too.
struct NativeWait {
  std::string_view method, text;
};
constexpr NativeWait native_waits[] = {
    {".ReceiveMessage", "data of a socket"}, {".Receive", "data of a socket"}, {".recv", "data of a socket"},
    {".WSARecv", "data of a socket"},        {".Accept", "a connection"},      {".accept", "a connection"},
};

// Returns the method's own name in that of a stub: "Interop+Sys.Accept" for "Interop+Sys.<Accept>g____PInvoke|15_0".
std::string without_stub(const std::string &method) {
  const u64 begin = method.find(".<"), end = method.find(">g__");
  return begin == method.npos || end == method.npos || end < begin
             ? method
             : method.substr(0, begin + 1) + method.substr(begin + 2, end - begin - 2);
}

std::string native_wait(const std::string &innermost) {
  if (!innermost.starts_with("Interop+"))
    return "";
  const std::string method = without_stub(innermost);
  for (const NativeWait &wait : native_waits)
    if (method.ends_with(wait.method))
      return std::string(wait.text);
  return "";
}

bool calls_native_code(const WalkedStack &stack) {
  return !stack.frames.empty() && stack.frames.front().kind == StackFrame::Kind::explicit_ &&
         std::string_view(stack.frames.front().frame_name) == "InlinedCallFrame";
}

// True for methods of .NET that only help to call: the program did not ask for them.
bool is_between(const std::string &method) {
  constexpr std::string_view begins[] = {"System.Threading.", "System.Runtime.CompilerServices.",
                                         "System.Runtime.InteropServices.", "Interop+", stub_class};
  return std::ranges::any_of(begins, [&](std::string_view begin) { return method.starts_with(begin); });
}

bool is_entry(std::string_view method) {
  return method.ends_with(".Main") || method.ends_with(".<Main>") || method.ends_with(".<Main>$");
}

std::string in_words(const WaitText &wait, bool is_many) {
  return !wait.text.empty() ? wait_in_words(wait.text, is_many) : is_many ? "stand" : "stands";
}

} // namespace

std::string native_wait_of(const Runtime &runtime, const WalkedStack &stack) {
  if (!calls_native_code(stack))
    return "";
  const std::vector<const StackFrame *> frames = method_frames(stack);
  return !frames.empty() && frames.front()->method_desc
             ? native_wait(runtime.method_text(frames.front()->method_desc).qualified)
             : "";
}

// Returns the innermost method that is not part of .NET's own waiting; if a method of the program is near, that one.
ThreadPlaces::Place ThreadPlaces::place_behind(const WalkedStack &stack, const WaitText &wait) const {
  u64 looked_at = 0;
  std::string inner;
  for (u64 i = wait.frames; i < stack.frames.size() && looked_at < frames_looked_at; ++i) {
    const StackFrame &frame = stack.frames[i];
    if (frame.kind != StackFrame::Kind::method || frame.is_unwound || !frame.method_desc)
      continue;
    ++looked_at;
    const MethodText text = runtime_.method_text(frame.method_desc);
    if (!framework_.contain(text.qualified) && !text.qualified.starts_with(stub_class))
      return {method_in_words(text.qualified), &frame, is_between(inner) ? "" : inner};
    inner = text.qualified;
  }
  return {};
}

std::string ThreadPlaces::line_of(const StackFrame &frame) {
  return line_in_brackets(lines_.find(frame.method_desc, frame.ip, !frame.is_active).at);
}

std::string ThreadPlaces::of(const WalkedStack &stack, const WaitText &wait) {
  const Place place = place_behind(stack, wait);
  const std::string native = wait.text.empty() ? native_wait_of(runtime_, stack) : "";
  return (!native.empty()     ? wait_in_words(native, false)
          : wait.text.empty() ? "runs"
                              : in_words(wait, false)) +
         (place.frame ? " in " + place.method + line_of(*place.frame) : "");
}

void ThreadPlaces::add(u32 thread, const WalkedStack &stack, const WaitText &wait) {
  const std::vector<const StackFrame *> frames = method_frames(stack);
  if (frames.empty())
    return;
  const Place place = place_behind(stack, wait);
  ++counts_[in_words(wait, true)][place.method];
  add_to_groups(thread, stack, wait, place);
  // Finalize() is the outermost frame; since .NET 10 the second, as a method of the runtime calls it.
  constexpr u64 outermost = 2;
  for (u64 i = frames.size() - std::min<u64>(frames.size(), outermost); i < frames.size() && finalizer_.empty(); ++i)
    if (frames[i]->method_desc)
      if (const MethodText text = runtime_.method_text(frames[i]->method_desc); text.qualified.ends_with(".Finalize")) {
        finalizer_ = in_words(wait, false) + " in " + text.qualified + line_of(*frames[i]);
        finalizer_thread_ = thread;
        if (place.frame && place.method != text.qualified)
          finalizer_ += ", in a call of " + place.method + line_of(*place.frame);
      }
}

void ThreadPlaces::add_to_groups(u32 thread, const WalkedStack &stack, const WaitText &wait, const Place &place) {
  if (!place.frame || wait.is_idle)
    return;
  const std::vector<const StackFrame *> frames = method_frames(stack);
  // Since .NET 10 a method of the runtime calls the entry point.
  const bool is_outermost =
      frames.back() == place.frame || (frames.size() > 1 && frames[frames.size() - 2] == place.frame);
  if (!wait.text.empty() && is_outermost && is_entry(runtime_.method_text(place.frame->method_desc).qualified))
    return;
  const bool is_native = calls_native_code(stack);
  const std::string waits_for = !wait.text.empty() ? wait.text : native_wait_of(runtime_, stack);
  const bool is_in_native = is_native && waits_for.empty();
  const GroupKey key = {waits_for, place.method, place.calls, is_in_native};
  if (groups_.size() >= most_groups && !groups_.contains(key))
    return;
  ThreadGroup &group = groups_[key];
  if (!group.count++)
    group = {waits_for,       place.method,           place.calls,  1,  place.frame->method_desc,
             place.frame->ip, place.frame->is_active, is_in_native, {}, {}};
  if (group.threads.size() < most_of_a_group)
    group.threads.push_back(thread);
}

std::vector<ThreadGroup> ThreadPlaces::groups() const {
  std::vector<ThreadGroup> out;
  for (const auto &[key, group] : groups_)
    out.push_back(group);
  return out;
}

std::string ThreadPlaces::most() const {
  const std::map<std::string, u64> *largest = nullptr;
  std::string words;
  u64 most = 1;
  for (const auto &[wait, methods] : counts_) {
    u64 count = 0;
    for (const auto &[method, times] : methods)
      count += times;
    if (count > most)
      most = count, largest = &methods, words = wait;
  }
  if (!largest)
    return "";
  const std::pair<const std::string, u64> *in = nullptr;
  for (const auto &one : *largest)
    if (!one.first.empty() && (!in || one.second > in->second))
      in = &one;
  return fmt::format("{} of them {}{}", count_text(most), words,
                     !in                  ? ""
                     : in->second == most ? " in " + in->first
                                          : fmt::format(", {} of these in {}", count_text(in->second), in->first));
}

} // namespace dnheap
