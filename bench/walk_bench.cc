// Kernels without files and processes: the walk of a synthetic heap by one thread and by two, and the opening of a core
// of very many segments. With DNHEAP_BENCH_DUMP=FILE also the walk of that dump.
#include "dump/elf_core.h"
#include "heap/tally.h"
#include "snapshot/snapshot.h"
#include "support/opened.h"

#include <benchmark/benchmark.h>
#include <cstdlib>

namespace dnheap::test {
namespace {

// Numbers that look random and are the same in every run.
class Dice {
public:
  u64 operator()(u64 sides) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % sides;
  }

private:
  u64 state_ = 1;
};

// Regions of 4 MiB, as the GC makes them: objects of 200 types and many sizes, a quarter of them strings and arrays.
void fill(HeapBuilder &builder, u64 regions) {
  constexpr u64 region_size = 4 << 20;
  std::vector<Address> types;
  for (u64 i = 0; i < 200; ++i)
    types.push_back(builder.type("Bench.Type" + std::to_string(i), 1 + i % 12));
  Address bytes = builder.array(builder.object_type, 1);
  Dice dice;
  for (u64 i = 0; i < regions; ++i) {
    SegmentWriter &segment = builder.segment(GCSegmentGeneration::gen2);
    while (segment.end() < segment.start + region_size - 2048) {
      u64 kind = dice(16);
      if (kind < 3)
        segment.object(builder.string_type, dice(60));
      else if (kind < 4)
        segment.object(bytes, dice(1000));
      else
        segment.object(types[dice(types.size())]);
    }
  }
}

void walk(benchmark::State &state, const Heap &heap, const Runtime &runtime) {
  WalkResult result;
  for (auto _ : state)
    result = tally_heap(heap, runtime, static_cast<unsigned>(state.range(0)), {}).walk;
  u64 rounds = static_cast<u64>(state.iterations());
  state.SetBytesProcessed(static_cast<int64_t>(result.bytes * rounds));
  state.SetItemsProcessed(static_cast<int64_t>(result.objects * rounds));
}

void walk_synthetic_heap(benchmark::State &state) {
  static HeapBuilder builder({});
  static const bool filled = (fill(builder, 32), true);
  static Opened opened(builder);
  benchmark::DoNotOptimize(filled);
  walk(state, opened.heap, opened.runtime);
}
BENCHMARK(walk_synthetic_heap)->Arg(1)->Arg(2)->ArgName("threads")->UseRealTime()->Unit(benchmark::kMillisecond);

void walk_dump(benchmark::State &state) {
  const char *path = std::getenv("DNHEAP_BENCH_DUMP");
  if (!path) {
    state.SkipWithError("set DNHEAP_BENCH_DUMP");
    return;
  }
  std::unique_ptr<Snapshot> snapshot = Snapshot::open(path);
  tally_heap(snapshot->heap(), snapshot->runtime(), 1, {}); // brings the pages in
  walk(state, snapshot->heap(), snapshot->runtime());
}
BENCHMARK(walk_dump)->Arg(1)->Arg(2)->ArgName("threads")->UseRealTime()->Unit(benchmark::kMillisecond);

void open_core_of_many_segments(benchmark::State &state) {
  ElfCoreWriter writer{.format = {}};
  writer.extended_count = state.range(0) >= 0xffff;
  for (u64 i = 0; i < static_cast<u64>(state.range(0)); ++i)
    writer.segments.push_back({.address = 0x10000 + i * 0x2000, .bytes = std::vector<std::byte>(16)});
  std::vector<std::byte> core = writer.write();
  for (auto _ : state)
    benchmark::DoNotOptimize(open_elf_core(core, nullptr));
}
BENCHMARK(open_core_of_many_segments)->Arg(1'000)->Arg(100'000)->ArgName("segments")->Unit(benchmark::kMillisecond);

} // namespace
} // namespace dnheap::test

BENCHMARK_MAIN();
