// StackTrace: the calls that an exception has passed through on its way up, as the runtime keeps them in
// Exception._stackTrace: a part of the Exception contract's stack trace. Each MethodDesc is checked once. From one
// thread at a time. Source: dotnet/runtime src/coreclr/vm/object.h (StackTraceArray, StackTraceElement), clrex.h.
#pragma once
#include "runtime/coreclr/types/method_descs.h"
#include "runtime/facts/exception_records.h"

#include <unordered_map>
#include <vector>

namespace dnheap {

class StackTrace {
public:
  StackTrace(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types,
             const MethodDescs &methods);

  // Returns the calls, innermost first. `object`: the value of _stackTrace: an array of bytes, or in .NET 9 and later
  // also an array of objects whose first element is that array; null gives an empty list. Nullopt: the object cannot be
  // read, or is something else.
  std::optional<std::vector<StackTraceElement>> read(Address object);

private:
  std::optional<std::vector<StackTraceElement>> read_at(Address first, u64 count);
  bool is_method(Address method);

  const Memory *memory_;
  const RuntimeTypeSystem1 *types_;
  const MethodDescs *methods_;
  u64 p_;
  u64 element_size_, ip_at_, method_at_;    // of an element
  std::optional<u64> header_, count_at_;    // published: offset of the elements, and of their number in front of them
  std::unordered_map<Address, bool> known_; // true: it is a MethodDesc
  u64 left_ = 1 << 25;                      // limit of calls to read: exceptions may share an array
};

} // namespace dnheap
