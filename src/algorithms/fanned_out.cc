#include "algorithms/fanned_out.h"

#include "algorithms/depth_first.h"
#include "algorithms/reach.h"
#include "base/parallel.h"

#include <algorithm>
#include <atomic>

namespace dnheap {
namespace {

constexpr u64 least_share = 8; // an object with one eighth of all references or more may fan out

ObjectId with_most_references(const Edges &edges, unsigned threads) {
  constexpr u64 part_size = u64{1} << 18;
  auto has_more = [&](u64 a, u64 b) { return edges.of(ObjectId(a)).size() > edges.of(ObjectId(b)).size(); };
  std::vector<u64> best(edges.objects() / part_size + 1);
  parallel_for_parts(edges.objects(), part_size, threads, [&](u64 begin, u64 end, unsigned) {
    u64 out = begin;
    for (u64 i = begin; i < end; ++i)
      if (has_more(i, out))
        out = i;
    best[begin / part_size] = out;
  });
  u64 out = 0;
  for (u64 i : best)
    if (has_more(i, out))
      out = i;
  return ObjectId(out);
}

// Finds the fanned-out objects that refer to fanned-out objects and leaves only.
void find_closed(const Edges &edges, const ObjectBits &left_out, unsigned threads, const Watch &watch, FannedOut &out) {
  constexpr u64 part_size = u64{1} << 16; // objects per part, in whole words of bits
  out.closed = ObjectBits(edges.objects());
  std::atomic<u64> count{0};
  parallel_for_parts(edges.objects(), part_size, threads, [&](u64 begin, u64 end, unsigned) {
    watch.check();
    u64 found = 0;
    for (u64 i = begin; i < end; ++i) {
      if (!out.objects.test(i))
        continue;
      const std::span<const ObjectId> targets = edges.of(ObjectId(i));
      if (std::all_of(targets.begin(), targets.end(),
                      [&](ObjectId target) { return left_out.test(target) || out.objects.test(target); })) {
        out.closed.set(i);
        ++found;
      }
    }
    count += found;
  });
  out.closed_count = count;
}

} // namespace

FannedOut find_fanned_out(const Edges &edges, const Owners &owners, const RootsByOwner &roots,
                          const ObjectBits &left_out, unsigned threads, const Watch &watch) {
  Timer timer(watch, "fanned out");
  if (edges.objects() == 0)
    return {};
  const ObjectId from = with_most_references(edges, threads);
  const std::span<const ObjectId> targets = edges.of(from);
  if (targets.size() * least_share < edges.targets.size() || (owners.links && owners.links->test(from)))
    return {};
  // Ranks and links only remove paths. Ignoring them reaches more objects, so fewer are found, but none wrongly.
  ObjectBits met(edges.objects());
  met.set(from);
  Reach without(edges, std::move(met), threads, watch);
  if (!without.from(roots.objects, edges.objects() / 4))
    return {};
  FannedOut out;
  out.from = from;
  out.objects = ObjectBits(edges.objects());
  for (ObjectId target : targets)
    if (!without.met().test(target) && !left_out.test(target))
      out.objects.set(target);
  find_closed(edges, left_out, threads, watch, out);
  return out;
}

} // namespace dnheap
