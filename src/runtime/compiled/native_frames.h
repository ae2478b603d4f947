// NativeFrames: leaves native functions by the call frame information of the module that they are in (.eh_frame). For
// one walk of a stack: it keeps what it has looked up. Some 50 reads for each place in code, few where it comes again.
// ELF modules alone.
#pragma once
#include "runtime/compiled/call_frame.h"
#include "runtime/compiled/eh_frame.h"

#include <map>
#include <unordered_map>

namespace dnheap {

class NativeFrames {
public:
  NativeFrames(const Target &target, const CallingConvention &convention) : target_(target), convention_(convention) {}

  // From a function to who called it; registers.ip becomes 0 where nobody did. `is_exact`: it stands at registers.ip;
  // else a call returns there. Leaves `registers` as they are where it does not succeed.
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
  std::unordered_map<Address, CallFrame> rules_; // by place in code
};

} // namespace dnheap
