#include "analysis/waits/kinds/join_waits.h"

#include "analysis/threads/thread_objects.h"

#include <algorithm>
#include <span>

namespace dnheap {

namespace {

constexpr std::string_view endless_join = "System.Threading.Thread.Join()", any_join = "System.Threading.Thread.Join";
constexpr u64 frames_looked_for_joins = 8; // Join is near the innermost end of the stack

} // namespace

JoinWaits::JoinWaits(const Runtime &runtime, std::span<const ThreadData> threads)
    : runtime_(runtime), threads_(threads_by_object(runtime, threads)) {
  // A wait for a thread that has ended is over.
  std::erase_if(threads_, [&](const auto &one) { return threads[one.second].os_id.value_or(0) == 0; });
}

bool is_endless_join(const Runtime &runtime, const WalkedStack &stack) {
  return std::ranges::any_of(std::span(stack.frames).first(std::min<u64>(stack.frames.size(), frames_looked_for_joins)),
                             [&](const StackFrame &frame) {
                               return frame.method_desc && runtime.method_text(frame.method_desc).name == endless_join;
                             });
}

// The frames further out may refer to other threads, for example to those that are joined next.
std::optional<JoinWait> JoinWaits::find(u32 index, const WalkedStack &stack, const WaitText &wait) const {
  if (wait.text != wait_for_end)
    return std::nullopt;
  std::optional<JoinWait> out;
  bool has_join = false, is_endless = false;
  for (u64 i = 0; i < std::min<u64>(stack.frames.size(), frames_looked_for_joins); ++i) {
    const StackFrame &frame = stack.frames[i];
    const MethodText method = frame.method_desc ? runtime_.method_text(frame.method_desc) : MethodText{};
    const bool is_join = method.qualified.starts_with(any_join);
    if (has_join && !is_join)
      break;
    has_join |= is_join;
    is_endless |= method.name == endless_join;
    for (const StackReference &reference : frame.references) {
      const auto joined = threads_.find(reference.value);
      if (joined == threads_.end())
        continue;
      const bool is_by_stack = !reference.certain || !stack.are_references_known;
      // Words of its own Thread are near; what it joins lives through the call, so nothing else lives in a join of
      // itself.
      if ((joined->second == index && is_by_stack) || (out && out->joined != joined->second))
        return std::nullopt;
      out = JoinWait{reference.value, joined->second, is_by_stack && (!out || out->is_by_stack), false};
    }
  }
  if (!has_join)
    return std::nullopt;
  if (out)
    out->is_limit_unknown = !is_endless;
  return out;
}

} // namespace dnheap
