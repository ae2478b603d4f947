// The content of a thread's stack, as plain data, for every kind of runtime: its frames, innermost first, and each
// reference to an object that a frame holds, with the place that holds it. Filled by stack walkers
// (coreclr/stack_walk.h, nativeaot/native_aot_stacks.h); any code may hold it.
#pragma once
#include "base/integers.h"

#include <string>
#include <vector>

namespace dnheap {

struct StackReference {
  Address slot = 0; // address of the reference; 0: in a register that was saved nowhere
  u8 reg = 0;       // that register, if slot is 0, by its number in machine code
  bool interior = false, pinned = false;
  // False: a word that may be an argument of a call that has just begun, or an old register value: it counts as a
  // reference only if it leads to an object.
  bool certain = true;
  // False: the slot counts everywhere in the method, and may hold a stale value.
  bool tracked = true;
  u64 value = 0; // never 0
};

struct StackFrame {
  enum class Kind : u8 {
    method,    // a managed method, or one of its funclets
    explicit_, // a Frame that the runtime leaves on the stack where managed code calls into it
    native     // a function of native code, if native frames are followed too
  };
  Kind kind = Kind::method;
  Address ip = 0; // of a Frame: where its caller continues; 0: unknown
  Address sp = 0; // of a Frame: the address of the Frame itself
  // The runtime's key for the method. NativeAOT has no MethodDescs: there it is the start of the method's code. 0:
  // none, or unknown.
  Address method_desc = 0;
  u64 code_offset = 0;         // offset of ip in the method
  const char *frame_name = ""; // type of a Frame: "InlinedCallFrame"
  bool is_active = false;      // the thread executes at ip; else a call returns there
  bool is_funclet = false, is_filter = false;
  // An exception was caught further out and its handler runs: this frame does not continue, and holds nothing.
  bool is_unwound = false;
  std::vector<StackReference> references;
};

// Which frames of a stack are listed. Native ones are for people: what the GC scans does not depend on them.
enum class ListedFrames : u8 { managed, all };

struct WalkedStack {
  Address thread = 0; // address of the runtime's Thread
  std::vector<StackFrame> frames;
  // References that native code of the runtime holds, in lists of the thread (GCFrame).
  std::vector<StackReference> of_runtime;
  // False: the frames show where the thread is, but not what they hold: any word of the stack may be a reference.
  bool are_references_known = true;
  // Why the stack is known only in part; empty: all of it is known. In a partly known stack, everything from
  // `unknown_from` on, and any register, may hold a reference.
  std::string why_not;
  Address unknown_from = 0;

  // Why native frames further out than the listed ones are unknown; empty: all are listed, or nobody asked for them.
  std::string why_no_native;

  bool is_complete() const { return why_not.empty(); }
};

} // namespace dnheap
