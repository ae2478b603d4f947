// StackWalk: the managed frames of a thread, innermost first, and the references that they hold: the StackWalk
// contract, and what the GC scans. Managed frames are unwound by their unwind data, native ones passed by means of the
// Frames that the runtime leaves in front of them; those of helpers that leave none by their module's call frame
// information. O(frames); some 50 reads per frame. Any thread. Spec: dotnet/runtime
// docs/design/datacontracts/{StackWalk,GCInfo}.md; see doc/contracts.md, StackWalk.
#pragma once
#include "runtime/compiled/gc_info.h"
#include "runtime/compiled/registers.h"
#include "runtime/coreclr/code_block.h"
#include "runtime/coreclr/explicit_frames.h"
#include "runtime/thread_data.h"

#include <unordered_map>

namespace dnheap {

class StackWalk {
public:
  // What managed code stands at an address; nullopt: none. May throw Error where that cannot be told.
  using FindCode = std::function<std::optional<CodeBlock>(Address)>;

  StackWalk(const Target &target, const ContractDescriptor &descriptor, FindCode find);

  // What is missing, without which no stack is walked; empty: nothing.
  const std::string &why_not() const { return why_not_; }

  // Never throws for what the dump lacks: then the result says so.
  WalkedStack walk(const ThreadData &thread) const;

private:
  const Target *target_;
  FindCode find_;
  ExplicitFrames frames_;
  const GcInfoEncoding *encoding_;
  const CallingConvention *convention_;
  std::unordered_map<u64, const Thread *> registers_; // by the operating system's number
  std::optional<u64> cooperative_;                    // where a Thread says that collections have to wait for it
  std::string why_not_;

  friend class OneWalk;
};

} // namespace dnheap
