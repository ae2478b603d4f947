// ManagedThreads: the System.Threading.Thread of a thread of NativeAOT, and its number. The thread's own statics lead
// to both, and nothing says which of them do: there is one object of either type among them, and the Thread refers to
// the other one. What is not unique is not told. Some reads for each reference among a thread's statics; names of
// types, so one thread.
#pragma once
#include "runtime/nativeaot/runtime_type_system_n1.h"
#include "runtime/thread_data.h"

#include <unordered_map>

namespace dnheap {

struct ManagedThread {
  Address object = 0;        // 0: the thread has none, or that cannot be told
  std::optional<u32> number; // as Environment.CurrentManagedThreadId says
};

class ManagedThreads {
public:
  // All must outlive it.
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
