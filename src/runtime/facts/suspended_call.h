// Data on the suspended calls of runtime-async methods (.NET 11), as plain data: the layout of Continuation objects,
// and the method that continues at a given resume address. Filled by the kinds of Runtime.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// Offsets from a Continuation's first byte.
struct ContinuationLayout {
  u64 next = 0;        // the caller's Continuation
  u64 resume_info = 0; // where the call is to be resumed
  u64 state = 0;       // i32: number of the await in the method, in code order
  u64 flags = 0;       // u32
  u64 data = 0;        // start of the saved variables, which reach to the object's end
};

// The place where a call is to be resumed.
struct ResumePoint {
  Address method_desc = 0; // for Runtime::method_text(); 0: unknown
  Address ip = 0;          // in the method's code, at its await; 0: unknown
  std::string module;      // file of the module that contains the place; empty: unknown
  std::string why_not;     // the reason if the method is unknown; else empty
};

// An argument or local variable that a suspended call keeps.
struct SavedVariable {
  u64 offset = 0;           // from the Continuation's first byte
  std::string name;         // empty: unknown here
  std::optional<u32> local; // number of the local variable in the method; nullopt: an argument
};

} // namespace dnheap
