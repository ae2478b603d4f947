#include "runtime/compiled/x86/unwind_x86.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u8 number(X86Register reg) { return static_cast<u8>(reg); }
constexpr u8 esp = number(X86Register::esp), ebp = number(X86Register::ebp);
constexpr u32 preserved = 1u << ebp | 1u << number(X86Register::ebx) | 1u << number(X86Register::esi) |
                          1u << number(X86Register::edi) | 1u << esp;

class Unwinding {
public:
  Unwinding(const Memory &memory, const GcInfoX86 &info, Registers &registers)
      : memory_(memory), info_(info), to_(registers), now_(registers) {}

  ReadOutcome run(u64 offset, bool is_funclet) {
    const std::optional<u64> stack = now_.get(esp), frame = now_.get(ebp);
    if (!stack)
      return ReadOutcome::malformed("the stack pointer is unknown");
    if (offset == 0 && !is_funclet)
      return leave(*stack);
    if (info_.is_in_prolog(offset) || info_.is_in_epilog(offset))
      return ReadOutcome::malformed("it is in the prolog or the epilog of an x86 method");
    u64 pushed = 0;
    if (is_funclet && info_.has_handlers()) { // ebp belongs to the enclosing method
      const ReadOutcome outcome = info_.pushed_bytes(offset, pushed);
      return outcome ? leave(*stack + pushed) : outcome;
    }
    std::vector<X86Register> saved = info_.saved();
    if (info_.has_frame_pointer()) {
      if (!frame)
        return ReadOutcome::malformed("the frame pointer is unknown");
      Address at = *frame;
      for (X86Register reg : saved)
        if (reg != X86Register::ebp && !take(number(reg), at -= 4))
          return ReadOutcome::missing(at);
      return take(ebp, *frame) ? leave(*frame + 4) : ReadOutcome::missing(*frame);
    }
    if (const ReadOutcome outcome = info_.pushed_bytes(offset, pushed); !outcome)
      return outcome;
    Address at = *stack + pushed + info_.local_bytes();
    std::reverse(saved.begin(), saved.end()); // the last one pushed lies lowest
    for (X86Register reg : saved) {
      if (!take(number(reg), at))
        return ReadOutcome::missing(at);
      at += 4;
    }
    return leave(at);
  }

private:
  bool take(u8 reg, Address at) {
    const std::optional<u32> value = memory_.try_load<u32>(at);
    if (value)
      now_.set(reg, *value, at);
    return value.has_value();
  }
  // The method removes its arguments.
  ReadOutcome leave(Address return_address) {
    const std::optional<u32> ip = memory_.try_load<u32>(return_address);
    if (!ip)
      return ReadOutcome::missing(return_address);
    now_.ip = *ip;
    now_.keep_only(preserved);
    now_.set(esp, return_address + 4 + info_.argument_bytes());
    to_ = now_;
    return {};
  }

  const Memory &memory_;
  const GcInfoX86 &info_;
  Registers &to_;
  Registers now_;
};

} // namespace

ReadOutcome unwind_x86(const Memory &memory, const GcInfoX86 &info, u64 offset, bool is_funclet, Registers &registers) {
  return info.outcome() ? Unwinding(memory, info, registers).run(offset, is_funclet) : info.outcome();
}

} // namespace dnheap
