// MethodBodies: which methods of others a method's IL calls, by names; in the order of the IL. IL lies in the modules'
// images, which dumps often lack: then nothing is known, and nobody may conclude from what a method does not call. A
// body is read once, and kept. One thread.
#pragma once
#include "metadata/method_calls.h"
#include "runtime/coreclr/core_clr.h"
#include "runtime/coreclr/il_offsets.h"
#include "runtime/coreclr/method_descs.h"

#include <map>
#include <span>

namespace dnheap {

class MethodBodies {
public:
  explicit MethodBodies(const Runtime &runtime);

  struct Call {
    u32 il_offset = 0;
    CalleeName callee;
  };
  // Null: that is not known.
  const std::vector<Call> *calls_of(Address method_desc);
  // The same of an asynchronous method, by the type of its state machine.
  const std::vector<Call> *calls_of_machine(Address machine_type);
  // Does the method call one of those methods of that type? Nothing: that is not known.
  static std::optional<bool> calls_any(const std::vector<Call> *calls, std::string_view type,
                                       std::span<const std::string_view> methods);
  // Where a frame stands in its method's IL; nothing: that is not known.
  std::optional<u32> il_offset(const StackFrame &frame);

private:
  using Calls = std::optional<std::vector<Call>>;
  const std::vector<Call> *calls_at(Address module, u32 row);
  Calls read(Address module, u32 row);

  const CoreClr *clr_; // null: another kind of runtime
  std::optional<MethodDescs> methods_;
  std::optional<IlOffsets> il_offsets_;
  std::map<std::pair<Address, u32>, Calls> known_; // by module and row
};

} // namespace dnheap
