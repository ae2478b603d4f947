// has_passed_through_all(): whether the runtime looked for an exception's handler in all calls of a thread. Costs a
// look at each frame. Not for several threads at once.
#pragma once
#include "analysis/threads/exception_objects.h"

#include <string>

namespace dnheap {

// True for calls that throw or end the process, between the call that does so and the runtime.
bool is_throwing(const std::string &method);

// True if no handler was found for the exception that the thread of this stack is handling.
bool has_passed_through_all(const Runtime &runtime, const WalkedStack &stack, const ExceptionObject &exception);

} // namespace dnheap
