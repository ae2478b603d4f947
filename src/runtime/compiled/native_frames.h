// NativeFrames: unwinds native functions by the tables of their modules: .eh_frame of ELF, .pdata of x64 PE. It keeps
// what it has looked up, up to some 64 MiB, so one object should serve all stacks of a question: some 50 reads for each
// code address, few if it occurs again. Not for several threads at once.
#pragma once
#include "image/function_table.h"
#include "runtime/compiled/call_frame.h"
#include "runtime/compiled/eh_frame.h"

#include <map>
#include <unordered_map>

namespace dnheap {

class NativeFrames {
public:
  // `target` must outlive this object.
  NativeFrames(const Target &target, const CallingConvention &convention) : target_(target), convention_(convention) {}

  // Turns the registers of a function into those of its caller; registers.ip becomes 0 if it has none. `is_exact`: the
  // thread executes at registers.ip; else a call returns there. `is_exact` is set for the caller: true after a signal's
  // return point. Leaves `is_exact` and `registers` unchanged on failure.
  ReadOutcome leave(bool &is_exact, Registers &registers);
  // Unwinds by the frame pointer where the tables fail. The result may be wrong, since not every function keeps a frame
  // pointer: use it only for display, never to decide what a stack holds. Returns false if the frame pointer does not
  // lead up the stack.
  bool leave_by_frame_pointer(Registers &registers) const;

private:
  struct KnownModule {
    std::optional<EhFrame> frames;
    std::optional<FunctionTable> functions;
    ReadOutcome outcome; // why there is neither
  };

  const KnownModule *module_at(Address at);
  ReadOutcome rules_at(const KnownModule &module, Address at, const CallFrame *&to);
  ReadOutcome leave_by_table(const KnownModule &module, bool is_exact, Registers &registers) const;

  const Target &target_;
  const CallingConvention &convention_;
  std::map<Address, KnownModule> modules_;       // by base
  std::unordered_map<Address, CallFrame> rules_; // by code address
  u64 record_bytes_ = 0;                         // that rules_ keep alive
};

} // namespace dnheap
