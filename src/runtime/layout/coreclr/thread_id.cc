#include "runtime/layout/coreclr/thread_id.h"

#include "runtime/layout/coreclr/dac_table.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

// Bounds of g_pThinLockThreadIdDispenser in g_dacTable (inc/dacvars.h), counted from g_gcDacGlobals, with a margin.
constexpr i64 first_variable = 8, last_variable = 40;
constexpr i64 dispenser_words = 32, thread_words = 32;
constexpr u32 most_ids = 65536;

// Returns the threads that live: a thread that has ended has given its number back.
std::vector<Address> living(std::span<const ThreadData> threads) {
  std::vector<Address> out;
  for (const ThreadData &thread : threads)
    if (thread.os_id != u64{0})
      out.push_back(thread.address);
  return out;
}

// Returns the map from numbers to Threads, if the target publishes it.
std::optional<Address> published_map(const Derivation &d) {
  const std::optional<u64> variable = d.descriptor.try_number("ThinlockThreadIdDispenser");
  const std::optional<i64> map = d.descriptor.try_offset("IdDispenser", "IdToThread");
  return variable && map ? d.follow(*variable, {0, *map}) : std::nullopt;
}

// Returns candidate maps from numbers to Threads: one is a member of the dispenser of numbers.
std::vector<Address> maps_of(const Derivation &d, Address gc_variable) {
  std::vector<Address> out;
  if (const std::optional<Address> map = published_map(d))
    return {*map};
  DacTable variables(d, gc_variable);
  d.memory.as_searched([&] {
    for (i64 i = first_variable; i <= last_variable; ++i) {
      std::optional<Address> variable = variables.variable(i);
      Address dispenser = variable ? d.word(*variable).value_or(0) : 0;
      for (i64 word = 1; dispenser >= 0x10000 && word < dispenser_words; ++word)
        if (std::optional<u64> map = d.word(dispenser + u64(word) * d.pointer_size);
            map && *map >= 0x10000 && *map % d.pointer_size == 0)
          out.push_back(*map);
    }
  });
  return out;
}

} // namespace

void derive_thread_id(Derivation &d, std::span<const ThreadData> all, Address gc_variable) {
  if (d.descriptor.find_field("Thread", "Id"))
    return;
  const std::vector<Address> threads = living(all);
  const std::vector<Address> maps = threads.empty() ? threads : maps_of(d, gc_variable);
  // Two threads have two numbers. This cheap test comes first: there are a thousand maps to try, and hardly an offset
  // that passes it.
  auto numbered = [&](i64 x) {
    std::map<u32, Address> out;
    for (Address thread : threads)
      if (u32 id = d.memory.try_load<u32>(thread + u64(x)).value_or(0); id > 0 && id < most_ids)
        out.try_emplace(id, thread);
    return out;
  };
  auto most = [&](u64 count) { return 2 * count > threads.size(); };
  auto passes = [&](i64 x) -> Verdict {
    const std::map<u32, Address> by_id = numbered(x);
    return most(by_id.size()) && std::any_of(maps.begin(), maps.end(), [&](Address map) {
             return most(static_cast<u64>(std::count_if(by_id.begin(), by_id.end(), [&](const auto &numbered) {
               return d.word(map + numbered.first * d.pointer_size) == numbered.second;
             })));
           });
  };
  if (!maps.empty())
    d.choose(
        "Thread", "Id", [&] { return d.search(0, thread_words * static_cast<i64>(d.pointer_size), 4, passes); }, passes,
        "for most threads, it is a number from which the runtime's map leads back to the Thread");
  else
    d.descriptor.missing["Thread.Id"] = "no thread is known, or no variable in g_dacTable leads to a map of threads";
}

} // namespace dnheap
