// The recursion that filled a thread's stack, from the methods whose calls are there. Not for several threads at once.
#pragma once
#include "runtime/runtime.h"

#include <string>
#include <vector>

namespace dnheap {

// Returns the methods that call each other again and again, outermost first; empty: there is no recursion. `calls`: by
// MethodDescs, innermost first.
std::vector<std::string> recursion_of(const Runtime &runtime, const std::vector<Address> &calls);

// Returns ": A → B, again and again" for what recursion_of() found; empty if that is only `method`, which calls itself.
std::string recursion_text(const std::vector<std::string> &recursion, const std::string &method);

// For a stack that cannot be walked: the methods to which words at its end return, innermost first, and the method to
// which most of them do; 0: none. Reads up to 64 KiB.
struct CallsLeft {
  std::vector<Address> calls;
  Address most = 0;
};
CallsLeft calls_left_on_stack(const Runtime &runtime, Address start);

} // namespace dnheap
