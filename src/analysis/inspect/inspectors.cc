#include "analysis/inspect/inspector.h"

namespace dnheap {

namespace {

constexpr Inspector all_inspectors[] = {
    {.name = "timers",
     .question = "which timers are there, what do they call, and who holds them?",
     .types = {"Timer", "System.Timers.Timer", "PeriodicTimer", "CancellationTokenSource", "Task.Delay",
               "TimeProvider"},
     .inspect = inspect_timers},
    {.name = "events",
     .question = "which events have several handlers, and whose?",
     .types = {"MulticastDelegate"},
     .inspect = inspect_events},
    {.name = "collections",
     .question = "which collections hold how much, and who holds them?",
     .types = {"List", "Stack", "Queue", "Dictionary", "HashSet", "ConcurrentDictionary", "StringBuilder"},
     .own = "collections",
     .inspect = inspect_collections},
};

} // namespace

std::span<const Inspector> inspectors() { return all_inspectors; }

const Inspector *find_inspector(std::string_view name) {
  for (const Inspector &one : all_inspectors)
    if (name == one.name)
      return &one;
  return nullptr;
}

Words inspector_words() {
  static_assert(std::size(all_inspectors) == 3);
  return {all_inspectors[0].name, all_inspectors[1].name, all_inspectors[2].name, "list"};
}

} // namespace dnheap
