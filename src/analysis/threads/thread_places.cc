#include "analysis/threads/thread_places.h"

#include "analysis/names/compiled_names.h"
#include "analysis/names/source_line_text.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 frames_looked_at = 64; // from the innermost on, to find a method of the program

// Returns "sleeps", "waits for an event"; for many threads "sleep", "wait for an event".
std::string in_words(const WaitText &wait, bool is_many) {
  if (wait.text.empty())
    return is_many ? "stand" : "stands";
  if (wait.text == "sleep")
    return is_many ? "sleep" : "sleeps";
  return (is_many ? "wait for " : "waits for ") + wait.text;
}

} // namespace

// Returns the innermost method that is not part of .NET's own waiting; if a method of the program is near, that one.
ThreadPlaces::Place ThreadPlaces::place_behind(const WalkedStack &stack, const WaitText &wait) const {
  u64 looked_at = 0;
  for (u64 i = wait.frames; i < stack.frames.size() && looked_at < frames_looked_at; ++i) {
    const StackFrame &frame = stack.frames[i];
    if (frame.kind != StackFrame::Kind::method || frame.is_unwound || !frame.method_desc)
      continue;
    ++looked_at;
    const MethodText text = runtime_.method_text(frame.method_desc);
    if (!framework_.contain(text.qualified) && !text.qualified.starts_with(stub_class))
      return {method_in_words(text.qualified), &frame};
  }
  return {};
}

std::string ThreadPlaces::line_of(const StackFrame &frame) {
  return line_in_brackets(lines_.find(frame.method_desc, frame.ip, !frame.is_active).at);
}

std::string ThreadPlaces::of(const WalkedStack &stack, const WaitText &wait) {
  const Place place = place_behind(stack, wait);
  return (wait.text.empty() ? "runs" : in_words(wait, false)) +
         (place.frame ? " in " + place.method + line_of(*place.frame) : "");
}

void ThreadPlaces::add(u32 thread, const WalkedStack &stack, const WaitText &wait) {
  const std::vector<const StackFrame *> frames = method_frames(stack);
  if (frames.empty())
    return;
  const Place place = place_behind(stack, wait);
  ++counts_[in_words(wait, true)][place.method];
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
