#include "base/parallel.h"
#include "objects/object_graph.h"

namespace dnheap {

namespace {

constexpr unsigned bucket_bits = 16; // targets per bucket; their counts fit a processor's cache
constexpr u64 bucket_size = u64{1} << bucket_bits;

// Returns the sources where the pieces of work begin: each piece has about the same number of references.
std::vector<u64> cut(const Edges &edges, u64 pieces) {
  std::vector<u64> out{0};
  for (u64 i = 1; i < pieces; ++i) {
    u64 wanted = edges.targets.size() / pieces * i;
    u64 source = out.back(), end = edges.objects(); // the first source whose references begin at `wanted` or later
    while (source < end) {
      const u64 middle = source + (end - source) / 2;
      if (edges.begin(middle) < wanted)
        source = middle + 1;
      else
        end = middle;
    }
    out.push_back(source);
  }
  out.push_back(edges.objects());
  return out;
}

} // namespace

// A counting sort in two steps: into buckets of targets, then within each bucket. So only the first step writes all
// over the memory, and to few places at a time.
Referrers::Referrers(const Edges &edges, unsigned threads, const Watch &watch)
    : first_(edges.objects() + 1), sources_(edges.targets.size()) {
  Timer timer(watch, "referrers");
  threads = std::max(threads, 1u);
  const u64 buckets = (edges.objects() + bucket_size - 1) >> bucket_bits;
  const std::vector<u64> pieces = cut(edges, edges.objects() ? 4 * u64{threads} : 0);
  const u64 piece_count = pieces.size() - 1;
  auto for_each = [&](u64 piece, auto visit) {
    for (u64 source = pieces[piece]; source < pieces[piece + 1]; ++source)
      for (ObjectId target : edges.of(ObjectId(static_cast<u32>(source))))
        visit(static_cast<u32>(source), static_cast<u32>(target));
  };
  std::vector<std::vector<u64>> next(piece_count, std::vector<u64>(buckets));
  parallel_for(piece_count, threads, [&](u64 piece, unsigned) {
    watch.check();
    for_each(piece, [&](u32, u32 target) { ++next[piece][target >> bucket_bits]; });
  });
  std::vector<u64> begin(buckets + 1);
  u64 sum = 0;
  for (u64 bucket = 0; bucket < buckets; ++bucket) {
    begin[bucket] = sum;
    for (u64 piece = 0; piece < piece_count; ++piece)
      sum += std::exchange(next[piece][bucket], sum);
  }
  begin[buckets] = sum;
  LargeArray<u32> sources(sum);
  LargeArray<u16> targets(sum);
  parallel_for(piece_count, threads, [&](u64 piece, unsigned) {
    watch.check();
    for_each(piece, [&](u32 source, u32 target) {
      u64 at = next[piece][target >> bucket_bits]++;
      sources[at] = source;
      targets[at] = static_cast<u16>(target);
    });
  });
  parallel_for(buckets, threads, [&](u64 bucket, unsigned) {
    watch.check();
    std::vector<u64> place(bucket_size + 1);
    for (u64 i = begin[bucket]; i < begin[bucket + 1]; ++i)
      ++place[targets[i] + u64{1}];
    place[0] = begin[bucket];
    for (u64 i = 1; i <= bucket_size; ++i)
      place[i] += place[i - 1];
    const u64 base = bucket << bucket_bits;
    for (u64 i = 0; i < bucket_size && base + i < edges.objects(); ++i)
      first_[base + i] = place[i];
    for (u64 i = begin[bucket]; i < begin[bucket + 1]; ++i)
      sources_[place[targets[i]]++] = ObjectId(sources[i]);
  });
  first_[edges.objects()] = sum;
}

} // namespace dnheap
