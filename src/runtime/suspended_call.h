// What a runtime says of the suspended calls of runtime-async methods (.NET 11), as plain data: where its Continuation
// objects have what, and which method goes on at a place where one is to be resumed. Filled by the kinds of Runtime.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// Offsets from a Continuation's first byte.
struct ContinuationLayout {
  u64 next = 0;        // the caller's Continuation
  u64 resume_info = 0; // where it is to be resumed
  u64 state = 0;       // i32: number of the await in the method, in the order of its code
  u64 flags = 0;       // u32
  u64 data = 0;        // what the call keeps, to the object's end
};

// Where a call is to be resumed.
struct ResumePoint {
  Address method_desc = 0; // for Runtime::method_text(); 0: not known
  Address ip = 0;          // in the method's code, at its await; 0: not known
  std::string module;      // file of the module that holds the place; empty: not known
  std::string why_not;     // the method is not known; empty: it is
};

// What a suspended call keeps of its method's arguments and local variables.
struct SavedVariable {
  u64 offset = 0;           // from the Continuation's first byte
  std::string name;         // empty: not known here
  std::optional<u32> local; // which of the method's local variables; nullopt: an argument
};

} // namespace dnheap
