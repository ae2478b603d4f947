// NativeFrames: unwinds native functions by the call frame information of their module (.eh_frame). For one walk of a
// stack: it keeps what it has looked up. Some 50 reads for each code address, few if it occurs again. Only ELF modules.
#pragma once
#include "runtime/compiled/call_frame.h"
#include "runtime/compiled/eh_frame.h"

#include <map>
#include <unordered_map>

namespace dnheap {

class NativeFrames {
public:
  NativeFrames(const Target &target, const CallingConvention &convention) : target_(target), convention_(convention) {}

  // Turns the registers of a function into those of its caller; registers.ip becomes 0 if it has none. `is_exact`: the
  // thread executes at registers.ip; else a call returns there. Leaves `registers` unchanged on failure.
  ReadOutcome leave(bool is_exact, Registers &registers);

private:
  struct KnownModule {
    std::optional<EhFrame> frames;
    ReadOutcome outcome;
  };

  ReadOutcome rules_at(Address at, const CallFrame *&to);

  const Target &target_;
  const CallingConvention &convention_;
  std::map<Address, KnownModule> modules_;       // by base
  std::unordered_map<Address, CallFrame> rules_; // by code address
};

} // namespace dnheap
