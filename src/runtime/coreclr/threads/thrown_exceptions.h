// ThrownExceptions: the exceptions that a thread is handling: GetLastThrownException of the Thread contract, and the
// nested ones of the Exception contract. If the target does not publish Thread.LastThrownObject, it is found as the
// only word that in all Threads is null or a strong handle of an exception. A word that is null in all Threads does not
// count, and if nothing was thrown, nothing is found. If the place of the nested ones is not published (8.0), it is
// found next to that word. Reads each Thread once. Not for several threads at once. Spec: dotnet/runtime
// docs/design/datacontracts/{Thread,Exception}.md.
#pragma once
#include "contract/descriptor.h"
#include "runtime/facts/exception_records.h"

#include <functional>
#include <span>

namespace dnheap {

class ThrownExceptions {
public:
  // `handles`: strong ones. `is_exception`: takes an object's address.
  ThrownExceptions(const Memory &memory, const ContractDescriptor &descriptor, std::span<const HandleData> handles,
                   std::function<bool(Address)> is_exception);

  // By thread, the innermost first.
  std::vector<Thrown> find(std::span<const ThreadData> threads) const;

private:
  // Offsets of: the ExceptionInfo of the current exception in a Thread; the exception in an ExceptionInfo; the
  // ExceptionInfo of the exception before it. No `previous`: no thread has an exception before its current one.
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
