// Graph algorithms on synthetic graphs of half a million objects, or as many as DNHEAP_BENCH_OBJECTS says: one that
// looks like a heap, and one like test/programs/graph. Seconds of all threads together stand in the column CPU.
#include "algorithms/dominator_tree.h"
#include "algorithms/paths/path_folding.h"
#include "algorithms/reach.h"
#include "support/graphs.h"

#include <benchmark/benchmark.h>
#include <cstdlib>

namespace dnheap::test {
namespace {

u32 objects() {
  const char *wish = std::getenv("DNHEAP_BENCH_OBJECTS");
  return wish ? static_cast<u32>(std::strtoul(wish, nullptr, 10)) : 500'000;
}

const Graph &graph(bool nodes) {
  if (nodes) {
    static const Graph node_array =
        node_array_graph(static_cast<u32>(u64{objects()} * 8 / 11)); // 11 objects for 8 nodes
    return node_array;
  }
  static const Graph heap_like = heap_like_graph(objects());
  return heap_like;
}

unsigned threads(const benchmark::State &state) { return static_cast<unsigned>(state.range(1)); }

template <class Work> void measure(benchmark::State &state, Work work) {
  const Graph &g = graph(state.range(0));
  for (auto _ : state)
    work(g);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(g.objects()));
}

void dominators(benchmark::State &state) {
  measure(state, [&](const Graph &g) {
    DominatorTree tree(g.edges(), g.sizes(), g.owners(), threads(state), {});
    benchmark::DoNotOptimize(tree.reached());
  });
}

void reachable(benchmark::State &state) {
  measure(state, [&](const Graph &g) {
    RetainedBySets sets(g.edges(), g.sizes(), g.owners(), threads(state), {});
    benchmark::DoNotOptimize(sets.reached());
  });
}

void shortest_paths(benchmark::State &state) {
  measure(state, [&](const Graph &g) {
    ShortestPaths paths(g.edges(), threads(state), {});
    paths.grow(g.owners());
    benchmark::DoNotOptimize(paths.met(ObjectId{0}));
  });
}

// The paths to all objects, by only a few labels.
void folding(benchmark::State &state) {
  const Graph &g = graph(state.range(0));
  ShortestPaths paths(g.edges(), threads(state), {});
  paths.grow(g.owners());
  std::vector<ObjectId> all(g.objects());
  for (u32 i = 0; i < g.objects(); ++i)
    all[i] = ObjectId{i};
  std::vector<u32> steps(g.objects());
  for (u32 i = 0; i < g.objects(); ++i)
    steps[i] = 1 + i % 3;
  PathLabels labels{.owner = [](OwnerId owner) { return static_cast<u32>(owner); }, .steps = steps};
  measure(state, [&](const Graph &) {
    benchmark::DoNotOptimize(fold_paths(paths, g.sizes(), all, labels, threads(state), {}));
  });
}

void each(benchmark::internal::Benchmark *benchmark) {
  benchmark->ArgNames({"nodes", "threads"})->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
  for (int64_t nodes : {0, 1})
    for (int64_t count : {1, 2})
      benchmark->Args({nodes, count});
}
BENCHMARK(dominators)->Apply(each);
BENCHMARK(reachable)->Apply(each);
BENCHMARK(shortest_paths)->Apply(each);
BENCHMARK(folding)->Apply(each);

} // namespace
} // namespace dnheap::test

BENCHMARK_MAIN();
