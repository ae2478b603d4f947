#include "analysis/waits/wait_texts.h"

#include "analysis/waits/kinds/constructor_waits.h"
#include "runtime/coreclr/threads/monitors.h"

#include <map>

namespace dnheap {

namespace {

// Returns waits for Monitors by thread. On 8.0 and 9.0 no method on the stack shows them, but the runtime records them.
std::map<u32, const char *> noted_waits(const Runtime &runtime, std::span<const ThreadData> threads) {
  std::map<u32, const char *> out;
  if (runtime.kind() != std::string_view("coreclr"))
    return out;
  for (const MonitorWait &wait : Monitors(runtime.memory(), runtime.descriptor(), threads).waits())
    out.emplace(wait.thread, wait.is_for_pulse ? "a pulse (Monitor.Wait)" : "a lock");
  return out;
}

} // namespace

std::vector<WaitText> find_wait_texts(const Snapshot &snapshot, std::span<const ThreadData> threads,
                                      ThreadPlaces *places) {
  const Runtime &runtime = snapshot.runtime();
  const std::map<u32, const char *> noted = noted_waits(runtime, threads);
  std::optional<std::map<u32, ConstructorWait>> constructors;
  std::vector<WaitText> out(threads.size());
  for (u64 i = 0; i < threads.size(); ++i) {
    snapshot.watch().check();
    if (threads[i].os_id.value_or(0)) {
      const WalkedStack stack = runtime.walk_stack(threads[i]);
      out[i] = waits_for(runtime, stack);
      if (auto at = noted.find(static_cast<u32>(i)); at != noted.end() && out[i].text.empty())
        out[i].text = at->second;
      if (out[i].text.empty() && may_wait_for_constructor(runtime, stack)) {
        if (!constructors)
          constructors = find_constructor_waits(runtime, threads);
        if (constructors->contains(static_cast<u32>(i)))
          out[i].text = wait_for_constructor;
      }
      if (places)
        places->add(static_cast<u32>(i), stack, out[i]);
    }
  }
  return out;
}

} // namespace dnheap
