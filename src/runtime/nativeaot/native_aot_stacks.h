// NativeAotStacks: the frames of a thread of NativeAOT, innermost first, of managed methods and of native functions
// alike: both are left by the call frame information that their modules have for it (.eh_frame). What the frames hold
// is not read: of that only the runtime's own GC info tells. Some 50 reads for each place in code, and few where it
// comes again. One thread. Linux on x64; on arm64 not yet shown on real memory. See doc/contracts.md, StackWalk.
#pragma once
#include "runtime/compiled/debug_frame.h"
#include "runtime/compiled/eh_frame.h"
#include "runtime/nativeaot/managed_code.h"
#include "runtime/stack_frame.h"
#include "runtime/thread_data.h"
#include "target/target.h"

#include <map>

namespace dnheap {

class NativeAotStacks {
public:
  NativeAotStacks(const Target &target, std::optional<CodeRange> managed) : target_(&target), managed_(managed) {}

  const std::optional<CodeRange> &managed_code() const { return managed_; }
  // Of the module with the runtime: how those of its functions are left of which it does not say so itself.
  void use_debug_frame(DebugFrame frames) { debug_frame_ = std::move(frames); }

  // Where the function begins that lies there, by what says how it is left; 0: not known. Not from several threads.
  Address function_at(Address code) const;
  // Never throws for what the dump lacks: then the result says so.
  WalkedStack walk(const ThreadData &thread) const;

private:
  const Target *target_;
  std::optional<CodeRange> managed_; // nothing: which frames are of methods is not known
  DebugFrame debug_frame_;
  mutable std::map<Address, std::optional<EhFrame>> frames_; // by module's base; nothing: it has none
};

} // namespace dnheap
