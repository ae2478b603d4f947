// ThrownExceptions: which exception a thread is dealing with: what the Thread contract calls GetLastThrownException,
// and the Exception contract its nested ones. Where the target does not publish Thread.LastThrownObject it is found as
// the only word in all Threads that is null or a strong handle of an exception; only with such a handle, so that a
// process in which nothing was thrown needs none. Where the nested ones are not published (8.0), they are found from
// there. Reads each Thread once. One thread. Spec: dotnet/runtime docs/design/datacontracts/{Thread,Exception}.md.
#pragma once
#include "contract/descriptor.h"
#include "runtime/handle_data.h"
#include "runtime/thread_data.h"

#include <functional>
#include <span>

namespace dnheap {

struct Thrown {
  u32 thread = 0; // index in the list of threads
  Address object = 0;
  bool is_nested = false;  // another one was thrown while this one was dealt with
  bool is_at_hand = false; // still dealt with, or so the runtime's ExceptionInfo says; else perhaps only the last one
};

class ThrownExceptions {
public:
  // `handles`: strong ones. `is_exception`: of an object's address.
  ThrownExceptions(const Memory &memory, const ContractDescriptor &descriptor, std::span<const HandleData> handles,
                   std::function<bool(Address)> is_exception);

  // By thread, the innermost first.
  std::vector<Thrown> find(std::span<const ThreadData> threads) const;

private:
  // Where a Thread leads to what it knows of the exception at hand (ExceptionInfo), where that has the exception, and
  // where the exception that was at hand before; nothing: there is none before, in any thread.
  struct Nesting {
    u64 head = 0, thrown = 0;
    std::optional<u64> previous;
  };

  std::optional<Nesting> published_nesting() const;
  std::optional<Nesting> find_nesting(std::span<const ThreadData> threads, u64 last) const;
  std::optional<u64> find_offset(std::span<const ThreadData> threads) const;
  Address exception_in(Address handle) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  std::vector<Address> handles_; // ascending
  std::function<bool(Address)> is_exception_;
  u64 p_;
};

} // namespace dnheap
