// ExplicitFrames: the Frames of a thread: a list, innermost first, of the records that the runtime leaves on the stack
// where managed code calls into it. Reads the registers of that code from each Frame, and the references that the Frame
// itself holds. Some ten reads per Frame; nothing is kept. Any thread. Spec: dotnet/runtime
// docs/design/datacontracts/StackWalk.md; .NET 8 and 9: src/coreclr/vm/frames.h of these.
#pragma once
#include "contract/descriptor.h"
#include "runtime/compiled/read_outcome.h"
#include "runtime/compiled/registers.h"
#include "runtime/facts/stack_frame.h"
#include "runtime/vm/frame_kinds.h"
#include "runtime/vm/frame_layout.h"
#include "runtime/vm/helper_method_layout.h"

#include <functional>
#include <map>

namespace dnheap {

struct ExplicitFrame {
  Address address = 0, next = 0; // next: 0 after the last one
  FrameKind kind{};
};

// A Frame's data on its caller: the managed code that called into the runtime.
struct FrameCaller {
  bool is_told = false; // false: the Frame has no such data
  Registers registers;
  // The range that may hold the caller's unknown registers: all words there are candidates.
  Address candidates_from = 0, candidates_to = 0;
  std::vector<StackReference> candidates; // candidates outside that range
};

class ExplicitFrames {
public:
  struct Code {
    // `is_managed`: true if managed code lies at the address. `is_return_address`: true if a call in that code can
    // return there, as far as the dump shows.
    std::function<bool(Address ip)> is_managed, is_return_address;
    // Returns the end of the frame of managed code with these registers; 0: unknown.
    std::function<Address(const Registers &)> frame_end;
  };

  ExplicitFrames(const Target &target, const ContractDescriptor &descriptor);

  // The missing values without which no Frame can be read; empty: none is missing.
  const std::string &why_not() const { return why_not_; }
  // False: at() finds no Frame. Methods that called no native code can be listed all the same.
  bool knows_kinds() const { return !kinds_.empty(); }

  // Returns the innermost Frame; 0: the thread has none. Nullopt: not in the dump.
  std::optional<Address> first(Address thread) const;
  // Nullopt: not in the dump, or no Frame of a known kind lies there.
  std::optional<ExplicitFrame> at(Address frame) const;

  // Leaves `to` unchanged unless the outcome is done.
  ReadOutcome caller(const ExplicitFrame &frame, Address stack_end, const Code &code, FrameCaller &to) const;
  // Returns the MethodDesc of the method that was called; 0: the Frame has none.
  Address method_desc(const ExplicitFrame &frame) const;
  // True if its caller does not continue, because it threw.
  bool caller_is_aborted(const ExplicitFrame &frame) const;
  // Adds the references that the Frame itself holds.
  void references(const ExplicitFrame &frame, std::vector<StackReference> &to) const;
  // Adds candidates: the arguments of a call that has just begun, in registers and on the stack. `on_stack`: bytes of
  // stack arguments.
  void arguments(const ExplicitFrame &frame, u64 on_stack, std::vector<StackReference> &to) const;
  // Adds the references that native code of the runtime protects.
  ReadOutcome protected_references(Address thread, Address stack_limit, Address stack_base,
                                   std::vector<StackReference> &to) const;

private:
  struct Saved {
    u8 reg;
    u16 offset;
  };
  struct TransitionLayout {
    u64 arguments = 0, arguments_size = 0, saved = 0, return_address = 0, size = 0;
    std::vector<Saved> registers; // offsets from `saved`
  };
  void resolve_transition(const ContractDescriptor &descriptor);
  std::optional<u64> word(Address at) const { return memory_->try_pointer(at); }
  ReadOutcome from_context(Address context, FrameCaller &to) const;
  void follow_context_pointers(const ExplicitFrame &frame, Registers &to) const;
  ReadOutcome from_block(Address block, FrameCaller &to) const;
  ReadOutcome from_hijack(const ExplicitFrame &frame, FrameCaller &to) const;
  ReadOutcome from_helper_method(const ExplicitFrame &frame, Address stack_end, const Code &code,
                                 FrameCaller &to) const;
  ReadOutcome by_native_functions(const ExplicitFrame &frame, const Code &code, FrameCaller &to) const;
  ReadOutcome by_frame_pointers(const ExplicitFrame &frame, Address stack_end, const Code &code, FrameCaller &to) const;
  ReadOutcome by_return_addresses(const ExplicitFrame &frame, Address stack_end, const Code &code,
                                  FrameCaller &to) const;
  HelperMethodLayout helper_method_layout() const { return {target_->architecture, target_->os}; }
  bool is_caller_known(const ExplicitFrame &frame) const; // for a helper method's Frame
  void captured_may_count(const ExplicitFrame &frame, FrameCaller &to) const;
  void reference(Address place, bool interior, std::vector<StackReference> &to) const;
  void words(Address from, Address to, std::vector<StackReference> &out) const;

  const Target *target_;
  const Memory *memory_;
  const CallingConvention *convention_;
  const u64 p_, end_of_frames_; // `end_of_frames_`: all bits set
  const FrameLayout *layout_;   // for its processor
  const bool is_windows_;
  std::string why_not_;
  std::map<u64, FrameKind> kinds_;                               // by the first word of a Frame
  u64 head_ = 0, next_ = 8;                                      // in a Thread; in a Frame
  u64 call_sp_, call_return_, call_frame_pointer_, call_method_; // InlinedCallFrame
  u64 block_, method_, software_context_, faulting_context_, resumable_context_, hijack_return_, hijack_args_;
  TransitionLayout transition_;
  std::optional<u64> protected_; // offset of the head of GCFrames in a Thread
  u64 protected_next_ = 0, protected_places_ = 16, protected_count_ = 24, protected_flags_ = 28; // of a GCFrame
};

} // namespace dnheap
