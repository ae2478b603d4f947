// What this machine's memory can do, to set the passes' times beside: bytes one after the other, loads at random places
// with many and with one in flight, and the first touch of fresh memory. By one thread and by two.
#include "base/host/large_array.h"

#include <benchmark/benchmark.h>

namespace dnheap::test {
namespace {

constexpr u64 words = u64{1} << 27; // 1 GiB of u64, a quarter of it as u32
LargeArray<u64> &memory() {
  static LargeArray<u64> out = [] {
    LargeArray<u64> fresh(words);
    for (u64 i = 0; i < words; ++i)
      fresh[i] = i * 0x9e3779b97f4a7c15;
    return fresh;
  }();
  return out;
}

u64 next(u64 state) { return state * 6364136223846793005 + 1442695040888963407; }

void InOrder(benchmark::State &state) {
  const LargeArray<u64> &from = memory();
  for (auto _ : state) {
    u64 sum = 0;
    for (u64 word : std::span(from.data(), words))
      sum += word;
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(static_cast<i64>(state.iterations() * words * sizeof(u64)));
}

// Asks for each place 16 loads ahead, as the passes do.
void RandomLoads(benchmark::State &state) {
  const LargeArray<u64> &from = memory();
  constexpr u64 ahead = 16, loads = u64{1} << 20;
  u64 early = static_cast<u64>(state.thread_index()) + 1, late = early;
  for (u64 i = 0; i < ahead; ++i)
    early = next(early);
  for (auto _ : state) {
    u64 sum = 0;
    for (u64 i = 0; i < loads; ++i) {
      early = next(early);
      late = next(late);
      __builtin_prefetch(&from[early >> 37]);
      sum += from[late >> 37];
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<i64>(state.iterations() * loads));
}

// Each load's place is known when the one before it has come.
void DependentLoads(benchmark::State &state) {
  const LargeArray<u64> &from = memory();
  constexpr u64 loads = u64{1} << 16;
  u64 at = static_cast<u64>(state.thread_index());
  for (auto _ : state)
    for (u64 i = 0; i < loads; ++i)
      benchmark::DoNotOptimize(at = next(at ^ from[at >> 37]));
  state.SetItemsProcessed(static_cast<i64>(state.iterations() * loads));
}

void FirstTouch(benchmark::State &state) {
  constexpr u64 bytes = u64{1} << 28, page = 4096;
  for (auto _ : state) {
    LargeArray<u8> fresh(bytes);
    for (u64 i = 0; i < bytes; i += page)
      fresh[i] = 1;
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<i64>(state.iterations() * bytes));
}

BENCHMARK(InOrder)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(RandomLoads)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(DependentLoads)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(FirstTouch)->ThreadRange(1, 2)->UseRealTime();

} // namespace
} // namespace dnheap::test

BENCHMARK_MAIN();
