#include "runtime/coreclr/threads/native_stretch.h"

#include "runtime/library_names.h"

namespace dnheap {

namespace {

constexpr u64 most_listed_frames = 4096; // native ones in one piece
constexpr u64 most_signals = 64;         // handled one inside the other
constexpr u64 most_native_frames = 256;  // between the thread's position and the calling method
constexpr unsigned arm64_link_register = 30;

} // namespace

bool NativeStretch::is_stub(Address ip) {
  const Module *module = target_.find_module(ip);
  return (!module || is_made_code(module->path)) && !code_.find(ip);
}

bool NativeStretch::take_return_address(Registers &registers) {
  constexpr unsigned most_stubs = 2; // a write barrier, and the stub that leads to it
  const bool is_on_stack = convention_.architecture != Architecture::arm64;
  Address at = stack_pointer(registers);
  for (unsigned stubs = 0; stubs <= most_stubs; ++stubs) {
    const std::optional<u64> back = is_on_stack ? target_.memory.try_pointer(at) : registers.get(arm64_link_register);
    if (!back)
      return false;
    if (is_on_stack)
      at += target_.memory.format().pointer_size;
    if (code_.find(*back)) {
      registers.ip = *back;
      registers.set(convention_.stack_pointer, at);
      return true;
    }
    // A word that leads into no module at all may be anything.
    if (!is_on_stack || !target_.find_module(*back) || !is_stub(*back))
      return false;
  }
  return false;
}

// The managed walk goes on by the runtime's Frames all the same, as it does where these cannot be unwound.
void NativeStretch::list(Registers at, bool is_exact, WalkedStack &out) {
  if (!listed_ || code_.find(at.ip))
    return;
  for (u64 listed = 0, signals = 0; at.ip && !code_.find(at.ip); ++listed) {
    StackFrame frame;
    frame.kind = StackFrame::Kind::native;
    frame.ip = at.ip;
    frame.sp = stack_pointer(at);
    frame.is_active = is_exact;
    out.frames.push_back(std::move(frame));
    const Address before = stack_pointer(at);
    const bool may_have_no_frame = is_exact && convention_.architecture == Architecture::arm64;
    ReadOutcome outcome = listed_->leave(is_exact, at);
    if (!outcome && (listed == 0 || is_stub(at.ip)) && take_return_address(at))
      return;
    if (!outcome && listed_->leave_by_frame_pointer(is_exact, at)) {
      outcome = {};
      is_exact = false;
    }
    // Signal handlers may run on another stack; leaf functions of arm64 need none of it, and a thread's first function
    // is not left for another one.
    const bool is_signal = outcome && is_exact;
    const bool goes_on =
        at.ip == 0 || stack_pointer(at) > before || (is_signal && ++signals <= most_signals) || may_have_no_frame;
    if (outcome && (!goes_on || listed >= most_listed_frames))
      outcome = ReadOutcome::malformed("it does not lead up the stack");
    if (!outcome) {
      const Module *module = target_.find_module(out.frames.back().ip);
      out.why_no_native = (module ? std::string(module->file_name()) : "no module") + ": " + code_.text_of(outcome);
      return;
    }
  }
}

std::optional<Registers> NativeStretch::leave(Registers at, Address limit, ReadOutcome &outcome) {
  NativeFrames of_this_walk(target_, convention_);
  NativeFrames &native = listed_ ? *listed_ : of_this_walk;
  bool is_exact = true;
  for (u64 i = 0; i < most_native_frames; ++i) {
    const Address before = stack_pointer(at);
    if (const ReadOutcome left = native.leave(is_exact, at);
        !left && ((i && !is_stub(at.ip)) || !take_return_address(at))) {
      outcome = left;
      return std::nullopt;
    }
    if (stack_pointer(at) <= before || stack_pointer(at) >= limit || at.ip == 0)
      return std::nullopt;
    if (code_.find(at.ip))
      return at;
  }
  return std::nullopt;
}

} // namespace dnheap
