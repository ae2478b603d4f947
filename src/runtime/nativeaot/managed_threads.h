// ManagedThreads: the System.Threading.Thread of a NativeAOT thread, and its number. The thread's own statics lead to
// both, but nothing marks them: they are found as the only object of type Thread, and the only one of type
// ManagedThreadId, to which the Thread must refer. A result that is not unique is left out. Some reads for each
// reference among a thread's statics; names types, so not for several threads at once.
#pragma once
#include "runtime/facts/thread_data.h"
#include "runtime/nativeaot/runtime_type_system_n1.h"

#include <unordered_map>

namespace dnheap {

struct ManagedThread {
  Address object = 0;        // 0: none, or unknown
  std::optional<u32> number; // as in Environment.CurrentManagedThreadId
};

class ManagedThreads {
public:
  // All arguments must outlive this object.
  ManagedThreads(const Memory &memory, const ContractDescriptor &descriptor, RuntimeTypeSystemN1 &types)
      : memory_(&memory), descriptor_(&descriptor), types_(&types) {}

  ManagedThread find(const ThreadData &thread) const;

private:
  enum class Kind : u8 { other, thread, number };

  Kind kind_of(Address object) const;
  std::optional<u32> number_in(Address object) const;
  bool refers_to(Address thread_object, Address other) const;

  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  RuntimeTypeSystemN1 *types_;
  mutable std::unordered_map<Address, Kind> kinds_; // by type
};

} // namespace dnheap
