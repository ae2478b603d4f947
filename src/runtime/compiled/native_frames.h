// NativeFrames: unwinds native functions by the tables of their modules: .eh_frame of ELF, .pdata of x64 PE; for
// display, also by frame pointers. It keeps what it has looked up, up to some 64 MiB, so one object should serve all
// stacks of a question: some 50 reads for each code address, few if it occurs again. Not for several threads at once.
#pragma once
#include "image/function_table.h"
#include "image/module_image.h"
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
  // Unwinds by the frame pointer where the tables fail, or where there are none, as on x86. The result may be wrong,
  // since not every function keeps a frame pointer: use it only for display, never to decide what a stack holds.
  // Returns false if the frame pointer does not lead up the stack. A function that the thread executes may not have set
  // up its frame yet: only x86 has a way to leave that.
  bool leave_by_frame_pointer(bool is_exact, Registers &registers);

private:
  struct KnownModule {
    std::optional<EhFrame> frames;
    std::optional<FunctionTable> functions;
    std::optional<ModuleImage> image; // of x86
    ReadOutcome outcome;              // why there is neither
  };

  std::optional<Address> base_at(Address at);
  const KnownModule *module_at(Address at);
  ReadOutcome leave_in_module(const KnownModule &module, bool is_exact, Registers &registers, bool &behind_signal);
  bool began_here(Address at) const;
  bool is_code(Address at);
  ReadOutcome rules_at(const KnownModule &module, Address at, const CallFrame *&to);
  ReadOutcome leave_by_table(const KnownModule &module, bool is_exact, Registers &registers) const;

  const Target &target_;
  const CallingConvention &convention_;
  std::optional<Address> kernel_end_;            // end of the image that the kernel maps; 0: there is none
  std::map<Address, KnownModule> modules_;       // by base
  std::unordered_map<Address, CallFrame> rules_; // by code address
  u64 record_bytes_ = 0;                         // that rules_ keep alive
};

} // namespace dnheap
