// StackTrace: the calls that an exception has passed through on its way up, as the runtime keeps them in
// Exception._stackTrace: part of what the Exception contract calls a stack trace. Each MethodDesc is looked at once.
// From one thread at a time.
// Source: dotnet/runtime src/coreclr/vm/object.h (StackTraceArray, StackTraceElement), clrex.h.
#pragma once
#include "runtime/coreclr/method_descs.h"

#include <unordered_map>
#include <vector>

namespace dnheap {

struct StackTraceElement {
  Address ip = 0;
  Address method = 0; // its MethodDesc
};

class StackTrace {
public:
  StackTrace(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types,
             const MethodDescs &methods);

  // The deepest call first. `object`: what lies in _stackTrace: an array of bytes, or from .NET 9 on also an array of
  // objects, of which the first is that. Null: empty. Nullopt: it cannot be read, or is something else.
  std::optional<std::vector<StackTraceElement>> read(Address object);

private:
  std::optional<std::vector<StackTraceElement>> read_at(Address first, u64 count);
  bool is_method(Address method);

  const Memory *memory_;
  const RuntimeTypeSystem1 *types_;
  const MethodDescs *methods_;
  u64 p_;
  u64 element_size_, ip_at_, method_at_;    // of an element
  std::optional<u64> header_, count_at_;    // published: what stands in front of the elements, and in it their number
  std::unordered_map<Address, bool> known_; // is it a MethodDesc?
  u64 left_ = 1 << 25;                      // calls that are read: exceptions may share an array
};

} // namespace dnheap
