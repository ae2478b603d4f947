// What a thread's stack holds, as plain data, whatever the kind of runtime: its frames, innermost first, and each
// reference to an object that a frame holds, with the place that holds it. Filled by stack walkers
// (coreclr/stack_walk.h, nativeaot/native_aot_stacks.h); anybody may hold it.
#pragma once
#include "base/integers.h"

#include <string>
#include <vector>

namespace dnheap {

struct StackReference {
  Address slot = 0; // where it lies; 0: in a register that was saved nowhere
  u8 reg = 0;       // that register, if slot is 0, by the number that code encodes
  bool interior = false, pinned = false;
  // False: a word that may be an argument of a call that has just begun, or what a register held: it counts if it leads
  // to an object.
  bool certain = true;
  // False: it counts wherever the method stands, and may hold what was left there.
  bool tracked = true;
  u64 value = 0; // never 0
};

struct StackFrame {
  enum class Kind : u8 {
    method,    // of a managed method, or of one of its funclets
    explicit_, // a Frame that the runtime leaves on the stack where managed code calls into it
    native     // of a function of native code, where those are followed too
  };
  Kind kind = Kind::method;
  Address ip = 0; // of a Frame where its caller goes on; 0: it does not say
  Address sp = 0; // of a Frame the Frame itself
  // What the runtime knows its method by. NativeAOT has no MethodDescs: there it is where the method's code begins. 0:
  // it has none, or does not say.
  Address method_desc = 0;
  u64 code_offset = 0;         // of ip in the method
  const char *frame_name = ""; // of a Frame: "InlinedCallFrame"
  bool is_active = false;      // it stands at ip; else a call returns there
  bool is_funclet = false, is_filter = false;
  // An exception was caught further out and its handler runs: this frame does not go on, and holds nothing.
  bool is_unwound = false;
  std::vector<StackReference> references;
};

struct WalkedStack {
  Address thread = 0; // of the runtime's Thread
  std::vector<StackFrame> frames;
  // What native code of the runtime holds, in lists of the thread's own (GCFrame).
  std::vector<StackReference> of_runtime;
  // False: the frames tell where the thread stands, and nobody knows what they hold: any word of the stack may.
  bool are_references_known = true;
  // Why not all of it is known; empty: it is. Then everything from `unknown_from` on may hold any reference, as may
  // registers.
  std::string why_not;
  Address unknown_from = 0;

  bool is_complete() const { return why_not.empty(); }
};

} // namespace dnheap
