// NativeAotStacks: the frames of a NativeAOT thread, innermost first, of managed methods and of native functions alike:
// both are unwound by their modules' call frame information (.eh_frame). The references that frames hold are not read:
// only the runtime's own GC info has them. Some 50 reads for each code address, and few if it occurs again. Not for
// several threads at once. Linux on x64; on arm64 not yet shown on real memory. See doc/contracts.md, StackWalk.
#pragma once
#include "runtime/compiled/debug_frame.h"
#include "runtime/compiled/eh_frame.h"
#include "runtime/facts/stack_frame.h"
#include "runtime/facts/thread_data.h"
#include "runtime/nativeaot/managed_code.h"
#include "target/target.h"

#include <map>

namespace dnheap {

class NativeAotStacks {
public:
  NativeAotStacks(const Target &target, std::optional<CodeRange> managed) : target_(&target), managed_(managed) {}

  const std::optional<CodeRange> &managed_code() const { return managed_; }
  // Adds unwind rules for functions of the runtime's module that have none in the module itself.
  void use_debug_frame(DebugFrame frames) { debug_frame_ = std::move(frames); }

  // Returns the start of the function at that address, by unwind data; 0: unknown. Not from several threads.
  Address function_at(Address code) const;
  // Never throws if data is not in the dump: the result has the reason.
  WalkedStack walk(const ThreadData &thread) const;

private:
  const Target *target_;
  std::optional<CodeRange> managed_; // nullopt: frames of methods cannot be identified
  DebugFrame debug_frame_;
  mutable std::map<Address, std::optional<EhFrame>> frames_; // by the module's base; nullopt: the module has none
};

} // namespace dnheap
