#include "analysis/inspectors/inspector.h"

namespace dnheap {

namespace {

constexpr Inspector all_inspectors[] = {
    {.name = "timers",
     .question = "which timers are there, what do they call, and who holds them?",
     .types = {"Timer", "System.Timers.Timer", "PeriodicTimer", "CancellationTokenSource", "Task.Delay",
               "TimeProvider"},
     .inspect = inspect_timers},
    {.name = "events",
     .question = "which events have several handlers, and which objects do they call?",
     .types = {"MulticastDelegate"},
     .inspect = inspect_events},
    {.name = "collections",
     .question = "which collections hold how much, and who holds them?",
     .types = {"List",
               "Stack",
               "Queue",
               "PriorityQueue",
               "SortedList",
               "LinkedList",
               "ArrayList",
               "Hashtable",
               "Dictionary",
               "HashSet",
               "OrderedDictionary",
               "SortedDictionary",
               "SortedSet",
               "ConcurrentDictionary",
               "ConcurrentQueue",
               "ConcurrentStack",
               "ConcurrentBag",
               "BlockingCollection",
               "Channel",
               "ImmutableList",
               "ImmutableDictionary",
               "ImmutableHashSet",
               "ImmutableSortedDictionary",
               "ImmutableSortedSet",
               "ConditionalWeakTable",
               "StringBuilder"},
     .own = "collections",
     .inspect = inspect_collections},
    {.name = "pools",
     .question = "which arrays does ArrayPool<T>.Shared keep for later?",
     .types = {"ArrayPool<T>.Shared"},
     .names_holders = false,
     .inspect = inspect_pools},
    {.name = "contexts",
     .question =
         "which AssemblyLoadContexts and emitted assemblies are there, and what keeps them from being unloaded?",
     .types = {"AssemblyLoadContext", "AssemblyBuilder"},
     .finds_paths = true,
     .inspect = inspect_contexts},
    {.name = "finalizers",
     .question = "which objects wait for their finalizer?",
     .types = {"all types with a finalizer"},
     .names_holders = false,
     .inspect = inspect_finalizers},
    {.name = "http",
     .question = "which HTTP clients, handlers and connections are there?",
     .types = {"HttpClient", "HttpMessageHandler", "HttpConnectionPool", "HttpConnection"},
     .inspect = inspect_http},
    {.name = "db",
     .question = "which connections to databases are there, and which are open?",
     .types = {"DbConnection"},
     .inspect = inspect_db},
    {.name = "sockets",
     .question = "which sockets are there, and which are connected?",
     .types = {"Socket"},
     .inspect = inspect_sockets},
    {.name = "safehandles",
     .question = "which handles of the operating system are open?",
     .types = {"SafeHandle"},
     .inspect = inspect_safe_handles},
    {.name = "caches",
     .question = "how many entries do caches hold, and what limits them?",
     .types = {"MemoryCache"},
     .inspect = inspect_caches},
    {.name = "di",
     .question = "which scopes of services are there, and what do they keep until they are disposed?",
     .types = {"ServiceProvider", "IServiceScope"},
     .inspect = inspect_di},
    {.name = "requests",
     .question = "which HTTP requests are in flight, and which have ended but are still held?",
     .types = {"HttpProtocol", "DefaultHttpContext", "DistributedSession"},
     .inspect = inspect_requests},
    {.name = "regex",
     .question = "which regular expressions are there, how are they run, and how many patterns do they have?",
     .types = {"Regex"},
     .inspect = inspect_regex},
    {.name = "ef",
     .question =
         "how many entities do contexts of Entity Framework Core track, who holds them, and which queries are cached?",
     .types = {"DbContext"},
     .inspect = inspect_ef},
    {.name = "asynclocals",
     .question = "which values of AsyncLocals do ExecutionContexts carry, and what captured these?",
     .types = {"ExecutionContext", "AsyncLocal"},
     .inspect = inspect_async_locals},
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
  static_assert(std::size(all_inspectors) < Words::most); // one more for `list`
  Words out;
  for (const Inspector &one : all_inspectors)
    out.add(one.name);
  out.add("list");
  return out;
}

} // namespace dnheap
