// NativeStretch: the native functions between a frame and the managed code that called them: stubs, helpers of the
// runtime, the system's libraries. It is apart from the walk, since the runtime's Frames lead over most of them: it is
// asked where there is no Frame, and to list native functions for people. Some 50 reads per function. Not for several
// threads at once.
#pragma once
#include "runtime/compiled/native_frames.h"
#include "runtime/coreclr/threads/walked_code.h"
#include "runtime/facts/stack_frame.h"

namespace dnheap {

class NativeStretch {
public:
  // `listed`: unwinds for people; null: native functions are not listed. All must outlive this object.
  NativeStretch(const Target &target, const CallingConvention &convention, WalkedCode &code, NativeFrames *listed)
      : target_(target), convention_(convention), code_(code), listed_(listed) {}

  // Lists the native functions from here to the next managed code, or to the thread's end, if anybody wants that list.
  // `is_exact`: the thread executes there.
  void list(Registers at, bool is_exact, WalkedStack &out);
  // True for code that the runtime generated and that is no method: a stub, a copy of a write barrier.
  bool is_stub(Address ip);
  // Returns to managed code, through stubs if need be: neither they nor leaf functions in assembly language have a
  // frame. False: no return address leads there.
  bool take_return_address(Registers &registers);
  // Returns the registers of the managed code that called the functions here, where the thread executes, if its stack
  // pointer is below `limit`. Nullopt: there is none, or, if `outcome` is not done, a function could not be unwound.
  std::optional<Registers> leave(Registers at, Address limit, ReadOutcome &outcome);

private:
  Address stack_pointer(const Registers &at) const { return at.get(convention_.stack_pointer).value_or(0); }

  const Target &target_;
  const CallingConvention &convention_;
  WalkedCode &code_;
  NativeFrames *const listed_;
};

} // namespace dnheap
