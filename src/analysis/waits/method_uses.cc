#include "analysis/waits/method_uses.h"

#include <algorithm>

namespace dnheap {

namespace {

struct Methods {
  std::string_view type;
  std::initializer_list<std::string_view> names;
};
constexpr std::string_view semaphore = "System.Threading.SemaphoreSlim", handle = "System.Threading.WaitHandle",
                           collection = "System.Collections.Concurrent.BlockingCollection`1";
const Methods waiting[] = {{semaphore, {"Wait", "WaitAsync"}}, {handle, {"WaitOne", "WaitAll", "WaitAny"}}};
const Methods giving_back[] = {{semaphore, {"Release"}},
                               {"System.Threading.Semaphore", {"Release"}},
                               {"System.Threading.Mutex", {"ReleaseMutex"}}};
const Methods adding[] = {{collection, {"Add", "TryAdd", "AddToAny", "TryAddToAny", "CompleteAdding"}}};
const Methods taking[] = {{collection, {"Take", "TryTake", "TakeFromAny", "TryTakeFromAny", "GetConsumingEnumerable"}}};

u64 calls_among(const std::vector<MethodBodies::Call> &calls, std::span<const Methods> of) {
  return static_cast<u64>(std::ranges::count_if(calls, [&](const MethodBodies::Call &call) {
    return std::ranges::any_of(of, [&](const Methods &methods) {
      return call.callee.type == methods.type &&
             std::ranges::find(methods.names, call.callee.method) != methods.names.end();
    });
  }));
}

} // namespace

const MethodUses::Uses &MethodUses::of(const std::vector<MethodBodies::Call> *calls) {
  auto [known, is_new] = known_.try_emplace(calls);
  if (is_new && calls) {
    const u64 waits = calls_among(*calls, waiting), released = calls_among(*calls, giving_back);
    known->second = {waits + released > 0, released > 0, calls_among(*calls, adding) > 0,
                     calls_among(*calls, taking) > 0, waits};
  }
  return known->second;
}

} // namespace dnheap
