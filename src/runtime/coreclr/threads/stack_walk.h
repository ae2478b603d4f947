// StackWalk: the managed frames of a thread, innermost first, and the references that they hold: the StackWalk
// contract, and what the GC scans. Managed frames are unwound by their unwind data. Native frames are skipped by means
// of the Frames that the runtime leaves in front of them; helpers that leave none are unwound by their module's call
// frame information. O(frames); some 50 reads per frame. Any thread. Spec: dotnet/runtime
// docs/design/datacontracts/{StackWalk,GCInfo}.md; see doc/contracts.md, StackWalk.
#pragma once
#include "runtime/compiled/gc_info.h"
#include "runtime/compiled/registers.h"
#include "runtime/coreclr/code/code_block.h"
#include "runtime/coreclr/threads/explicit_frames.h"
#include "runtime/facts/thread_data.h"

#include <unordered_map>

namespace dnheap {

class NativeFrames;

class StackWalk {
public:
  // Returns the managed code at an address; nullopt: none. May throw Error if that is unknown.
  using FindCode = std::function<std::optional<CodeBlock>(Address)>;

  StackWalk(const Target &target, const ContractDescriptor &descriptor, FindCode find);

  // The missing values without which no stack is walked; empty: none is missing.
  const std::string &why_not() const { return why_not_; }

  // Never throws if data is not in the dump: the result has the reason. With `native`, lists the native frames, too, as
  // far as they can be unwound: they change nothing of the managed ones.
  WalkedStack walk(const ThreadData &thread, NativeFrames *native = nullptr) const;
  // Null: stacks of this processor are not understood.
  const CallingConvention *convention() const { return convention_; }

private:
  const Target *target_;
  FindCode find_;
  ExplicitFrames frames_;
  const GcInfoEncoding *encoding_;
  const CallingConvention *convention_;
  std::unordered_map<u64, const Thread *> registers_; // by the OS id
  std::optional<u64> cooperative_;                    // offset in a Thread: collections have to wait for it
  std::string why_not_;

  friend class OneWalk;
};

} // namespace dnheap
