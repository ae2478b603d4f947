// Thread contract, version n1: the thread list of NativeAOT and each thread's allocation context. It is like Thread1,
// but links lead to the threads themselves, not to the links inside them, and the context lies inside the thread. Reads
// a few words per thread; the list is capped.
#pragma once
#include "base/notes.h"
#include "runtime/facts/thread_data.h"

namespace dnheap {

class ThreadN1 {
public:
  ThreadN1(const Memory &memory, const ContractDescriptor &descriptor) : memory_(&memory), descriptor_(&descriptor) {}

  // Returns the threads in list order. The reason for a list that ends early, and unreadable parts of a thread, are
  // added to `notes`. Throws Error if the list is not found.
  std::vector<ThreadData> get_threads(Notes &notes) const;

private:
  const Memory *memory_;
  const ContractDescriptor *descriptor_;
};

} // namespace dnheap
