#include "analysis/threads/thread_objects.h"

#include "runtime/facts/thread_details.h"

namespace dnheap {

std::map<Address, u32> threads_by_object(const Runtime &runtime, std::span<const ThreadData> threads) {
  std::map<Address, u32> out;
  for (u32 i = 0; i < threads.size(); ++i)
    if (const Address object = runtime.thread_details(threads[i]).object)
      out.emplace(object, i);
  return out;
}

} // namespace dnheap
