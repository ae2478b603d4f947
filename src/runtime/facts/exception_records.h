// ExceptionRecords: the runtime's own records of exceptions: the calls that each exception passed through, and the
// exceptions that its threads are handling. Some reads per call and per thread. From one thread at a time. See
// Runtime::exceptions().
#pragma once
#include "runtime/facts/handle_data.h"
#include "runtime/facts/thread_data.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace dnheap {

struct StackTraceElement {
  Address ip = 0;
  Address method = 0; // as StackFrame::method_desc
};

// An exception that a thread is handling.
struct Thrown {
  u32 thread = 0; // index in the list of threads
  Address object = 0;
  bool is_nested = false; // another exception was thrown while this one was handled
  // True: the thread is still handling it. False: it is the last one that the thread threw, and may be handled already.
  bool is_at_hand = false;
};

class ExceptionRecords {
public:
  virtual ~ExceptionRecords() = default;

  // Returns the calls, innermost first. `object`: the value of Exception._stackTrace; null gives an empty list.
  // Nullopt: the object cannot be read, or is something else.
  virtual std::optional<std::vector<StackTraceElement>> stack_trace(Address object) = 0;
  // Returns the exceptions by thread, each thread's innermost first. `handles`: strong ones. `is_exception`: takes an
  // object's address.
  virtual std::vector<Thrown> thrown(std::span<const ThreadData> threads, std::span<const HandleData> handles,
                                     const std::function<bool(Address)> &is_exception) const = 0;
};

} // namespace dnheap
