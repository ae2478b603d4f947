#include "analysis/verdict/passed_through_all.h"

#include <algorithm>

namespace dnheap {

namespace {

// True for calls that exceptions do not record: stubs, calls that throw, and the caller of Main (.NET 11).
bool is_no_call_of_program(const std::string &method) {
  return method.starts_with(stub_class) || is_throwing(method) || method == "System.Environment.CallEntryPoint";
}

} // namespace

bool is_throwing(const std::string &method) {
  return method.starts_with("System.Runtime.EH.") || method.starts_with("System.RuntimeExceptionHelpers.");
}

// If native code of the runtime threw the exception, the stack does not show that. But the thread is handling the
// exception, no handler (which would be a funclet) runs, and each call, up to the outermost one, is where the
// exception recorded it. Only the innermost call is elsewhere: the exception recorded the address to which the native
// code would have returned.
bool has_passed_through_all(const Runtime &runtime, const WalkedStack &stack, const ExceptionObject &exception) {
  constexpr u64 most_of_call = 4; // the exception recorded an address inside the call, the frame has the return
                                  // address: at most this far apart
  if (!stack.is_complete())
    return false;
  const u64 noted = std::min(exception.methods.size(), exception.ips.size());
  u64 left = noted;
  for (u64 i = stack.frames.size(); i-- > 0;) {
    const StackFrame &frame = stack.frames[i];
    if (frame.is_funclet || frame.is_unwound)
      return false;
    if (frame.kind != StackFrame::Kind::method)
      continue;
    if (left > 0 && exception.methods[left - 1] == frame.method_desc &&
        (left == 1 || frame.ip - exception.ips[left - 1] <= most_of_call)) {
      --left;
    } else if (!frame.method_desc || !is_no_call_of_program(runtime.method_text(frame.method_desc).qualified)) {
      return false;
    }
  }
  return left < noted;
}

} // namespace dnheap
