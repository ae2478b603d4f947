// FrameReferences: lists the references in a frame: those that the GC would find there by the method's GC info, and
// words that may be some, where GC info does not list them. The walk of the stack is another class's work, and passes
// the place. O(slots of the method) per frame. Not for several threads at once.
#pragma once
#include "runtime/coreclr/threads/explicit_frames.h"
#include "runtime/coreclr/threads/walked_code.h"

namespace dnheap {

class FrameReferences {
public:
  // Gets why references of the frame are unknown, while the walk goes on further out.
  using Doubt = std::function<void(const std::string &)>;

  // `code` must outlive this object.
  FrameReferences(const Memory &memory, const CallingConvention &convention, WalkedCode &code, Doubt doubt)
      : memory_(memory), convention_(convention), code_(code), doubt_(std::move(doubt)) {}

  // Adds what a managed frame holds. Malformed: the GC info breaks its format's rules, and the frame counts no more.
  ReadOutcome add(const CodeBlock &code, const WalkPosition &at, Address caller_sp, StackFrame &frame);
  // Adds the candidates that a Frame has for its caller's unknown registers.
  void add_candidates(const FrameCaller &caller, StackFrame &frame);
  // Keeps for the next frame what a callee without one may hold: its caller holds the arguments that it passed; the
  // callee keeps them in registers and on its part of the stack.
  void pass_on(const Registers &callee, const Registers &caller);
  // Returns how many bytes the caller reserves for arguments on the stack. If the caller's GC info does not have that
  // number (unoptimised code), returns the bytes below the first slot in which the caller keeps a reference.
  u64 room_for_arguments(const CodeBlock &caller, const WalkPosition &at) const;

private:
  Address sp(const Registers &at) const { return at.get(convention_.stack_pointer).value_or(0); }
  void add_words(Address from, Address to, std::vector<StackReference> &references) const;
  void add_registers(const Registers &registers, std::vector<StackReference> &to) const;
  void add_possible_slots(const GcInfo &info, const Registers &registers, StackFrame &frame) const;
  void add_slot(const GcSlot &slot, const WalkedCode::Slots &of, const WalkPosition &at, Address caller_sp,
                StackFrame &frame) const;

  const Memory &memory_;
  const CallingConvention &convention_;
  WalkedCode &code_;
  const Doubt doubt_;
  bool registers_are_candidates_ = false; // the unknown registers were added as candidates
  std::vector<StackReference> passed_on_; // references passed to a method that has not begun yet
};

} // namespace dnheap
