#include "analysis/waits/kinds/constructor_waits.h"

#include "analysis/threads/thread_text.h"
#include "runtime/facts/il_code.h"

#include <algorithm>
#include <string_view>

namespace dnheap {

namespace {

constexpr std::string_view initializer = "System.Runtime.CompilerServices.InitHelpers.InitClassSlow";
constexpr std::string_view of_compiler = "System.Runtime.CompilerServices."; // the initializer and its callers
constexpr std::string_view constructor = "..cctor", helper_frame = "HelperMethodFrame";
constexpr u64 most_looked_at = 64 << 10; // bytes of one stack

enum class Stands : u8 { elsewhere, in_initializer, in_helper };

// Judges by the innermost methods on the stack.
Stands where_it_stands(const Runtime &runtime, const WalkedStack &stack) {
  bool is_in_helper = false;
  for (const StackFrame &frame : stack.frames) {
    if (frame.kind == StackFrame::Kind::explicit_)
      is_in_helper |= frame.frame_name == helper_frame;
    if (frame.kind != StackFrame::Kind::method || frame.is_unwound)
      continue;
    if (frame.method_desc && runtime.method_text(frame.method_desc).qualified == initializer)
      return Stands::in_initializer;
    return is_in_helper ? Stands::in_helper : Stands::elsewhere;
  }
  return Stands::elsewhere;
}

class ConstructorFinder {
public:
  ConstructorFinder(const Runtime &runtime, const IlCode &code, std::span<const ThreadData> threads)
      : runtime_(runtime), code_(code) {
    std::map<u64, Address> stack_pointers;
    for (const Thread &thread : runtime.target().threads)
      stack_pointers.emplace(thread.id, thread.stack_pointer);
    for (u32 i = 0; i < threads.size(); ++i)
      if (auto at = stack_pointers.find(threads[i].os_id.value_or(0)); at != stack_pointers.end())
        look_at(i, runtime.walk_stack(threads[i]), at->second);
  }

  std::map<u32, ConstructorWait> find() const {
    std::map<u32, ConstructorWait> out;
    for (const Candidate &candidate : candidates_)
      if (const std::optional<ConstructorWait> wait = wait_of(candidate))
        out.emplace(candidate.thread, *wait);
    return out;
  }

private:
  struct Candidate {
    u32 thread = 0;
    bool is_in_helper = false;
    Address start = 0, end = 0; // the stack range of the native callee and of .NET's methods around it
  };

  void look_at(u32 thread, const WalkedStack &stack, Address stack_pointer) {
    const Stands stands = where_it_stands(runtime_, stack);
    if (stands != Stands::elsewhere)
      candidates_.push_back({thread, stands == Stands::in_helper, stack_pointer, end_of_callee(stack)});
    for (const StackFrame &frame : stack.frames)
      if (frame.kind == StackFrame::Kind::method && frame.method_desc && !frame.is_unwound &&
          runtime_.method_text(frame.method_desc).qualified.ends_with(constructor))
        if (const Address type = code_.type_of(frame.method_desc))
          running_.emplace(type, thread);
  }

  // Returns the stack pointer of the program's innermost method, at which .NET's own part of the stack ends.
  Address end_of_callee(const WalkedStack &stack) const {
    for (const StackFrame *frame : method_frames(stack))
      if (!frame->method_desc || !runtime_.method_text(frame->method_desc).qualified.starts_with(of_compiler))
        return frame->sp;
    return stack.frames.front().sp;
  }

  // Searches from the outermost word inwards: the outermost one is an argument; words further in may be left over.
  std::optional<ConstructorWait> wait_of(const Candidate &candidate) const {
    const u64 p = runtime_.memory().format().pointer_size;
    if (running_.empty() || candidate.start >= candidate.end || candidate.start % p)
      return std::nullopt;
    const Address first = candidate.end - std::min(candidate.end - candidate.start, most_looked_at);
    for (Address at = candidate.end; at >= first + p;) {
      at -= p;
      const auto [begin, end] = running_.equal_range(runtime_.memory().try_pointer(at).value_or(0));
      for (auto one = begin; one != end; ++one)
        if (one->second != candidate.thread)
          return ConstructorWait{one->first, one->second, candidate.is_in_helper};
    }
    return std::nullopt;
  }

  const Runtime &runtime_;
  const IlCode &code_;
  std::multimap<Address, u32> running_; // type → thread on which its constructor is
  std::vector<Candidate> candidates_;
};

} // namespace

bool may_wait_for_constructor(const Runtime &runtime, const WalkedStack &stack) {
  return where_it_stands(runtime, stack) != Stands::elsewhere;
}

std::map<u32, ConstructorWait> find_constructor_waits(const Runtime &runtime, std::span<const ThreadData> threads) {
  const std::unique_ptr<IlCode> code = runtime.il_code();
  return code ? ConstructorFinder(runtime, *code, threads).find() : std::map<u32, ConstructorWait>();
}

} // namespace dnheap
