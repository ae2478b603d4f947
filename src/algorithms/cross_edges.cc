#include "algorithms/cross_edges.h"

#include "base/parallel.h"

#include <algorithm>
#include <array>

namespace dnheap {
namespace {

constexpr u64 slab_chunks = 512; // 4 MiB
constexpr u32 vertices_at_once = 1u << 14;
constexpr u64 ahead = 12; // vertices whose references are brought in
constexpr u64 block = 32; // references whose vertices are brought in together

void lower(u32 &semi, u32 source) {
  std::atomic_ref<u32> shared(semi);
  u32 old = shared.load(std::memory_order_relaxed);
  while (source < old && !shared.compare_exchange_weak(old, source, std::memory_order_relaxed)) {
  }
}

} // namespace

CrossEdges::Chunk *CrossEdges::Writer::take() {
  if (free == 0) {
    slabs.emplace_back(slab_chunks);
    free = slab_chunks;
  }
  return &slabs.back()[slab_chunks - free--];
}

void CrossEdges::Writer::add(u32 target, u32 source) {
  Chunk *&chunk = lists[target >> bucket_bits];
  if (!chunk || chunk->used == chunk_size) {
    Chunk *fresh = take();
    fresh->next = chunk;
    chunk = fresh;
  }
  chunk->source[chunk->used] = source;
  chunk->target[chunk->used++] = static_cast<u16>(target);
}

void CrossEdges::sort_out(std::span<const ObjectId> targets, u32 source, Rank rank, const ObjectBits *links,
                          DepthFirst &search, Writer &writer) {
  std::array<ObjectId, block> waiting;
  u64 leaves = 0;
  for (u64 at = 0; at < targets.size(); at += block) {
    u64 count = 0;
    for (ObjectId target : targets.subspan(at, std::min(block, targets.size() - at))) {
      if (search.settled.test(target)) {
        leaves += search.left_out.test(target);
      } else if (!links || !links->test(target)) [[likely]] {
        __builtin_prefetch(&search.number[static_cast<u32>(target)]);
        waiting[count++] = target;
      }
    }
    // A rank does not compete with those before it; what leads to a later one leads to a hub.
    for (u64 i = 0; i < count; ++i) {
      const u32 number = search.number[static_cast<u32>(waiting[i])];
      if (number > source) {
        if (number < rank.end)
          lower(search.vertex[number].semi, source);
      } else if (number < source && number >= rank.begin) {
        writer.add(number, source);
      }
    }
  }
  few_leaves[source] = static_cast<u8>(std::min<u64>(leaves, 255));
}

CrossEdges::CrossEdges(const Edges &edges, const Owners &owners, const RootsByOwner &roots, DepthFirst &search,
                       unsigned threads, const Watch &watch)
    : few_leaves(search.vertices), vertices_(search.vertices),
      buckets_((search.vertices + (bucket_size - 1)) >> bucket_bits), writers_(std::max(threads, 1u)) {
  Timer timer(watch, "cross edges");
  for (Writer &writer : writers_)
    writer.lists.resize(buckets_);
  u64 objects = edges.objects();
  u64 parts = (u64{vertices_} + vertices_at_once - 1) / vertices_at_once;
  parallel_for(parts, threads, [&](u64 part, unsigned worker) {
    watch.check();
    u64 end = std::min<u64>(vertices_, (part + 1) * vertices_at_once);
    const std::vector<u32> &ends = search.rank_ends;
    auto rank_end = std::upper_bound(ends.begin(), ends.end(), part * vertices_at_once);
    for (u64 v = part * vertices_at_once; v < end; ++v) {
      while (v >= *rank_end)
        ++rank_end;
      const Rank rank{rank_end == ends.begin() ? 1 : *std::prev(rank_end), *rank_end};
      if (v + 2 * ahead < end && search.object[v + 2 * ahead] < objects)
        edges.prefetch(search.object[v + 2 * ahead]);
      if (v + ahead < end && search.object[v + ahead] < objects)
        __builtin_prefetch(edges.targets.data() + edges.begin(search.object[v + ahead]));
      u32 object = search.object[v];
      if (object < objects)
        sort_out(edges.of(ObjectId{object}), static_cast<u32>(v), rank,
                 owners.links && owners.links->test(u64{object}) ? owners.links : nullptr, search, writers_[worker]);
      else if (object < objects + owners.count)
        sort_out(roots.of(static_cast<u32>(object - objects)), static_cast<u32>(v), rank, nullptr, search,
                 writers_[worker]);
    }
  });
}

void CrossEdges::sort(u32 bucket, Sorted &out) const {
  out.begin = bucket << bucket_bits;
  out.end = static_cast<u32>(std::min<u64>(vertices_, u64{out.begin} + bucket_size));
  u32 last = out.end - 1 - out.begin;
  out.first.assign(last + 2, 0);
  u64 total = 0;
  auto each = [&](auto visit) {
    for (const Writer &writer : writers_)
      for (const Chunk *chunk = writer.lists[bucket]; chunk; chunk = chunk->next)
        for (u64 i = 0; i < chunk->used; ++i)
          visit(last - chunk->target[i], chunk->source[i]);
  };
  each([&](u32 i, u32) {
    ++out.first[i + 1];
    ++total;
  });
  for (u64 i = 1; i < out.first.size(); ++i)
    out.first[i] += out.first[i - 1];
  out.sources.resize(total);
  // Afterwards every entry of first is where the next one began.
  each([&](u32 i, u32 source) { out.sources[out.first[i]++] = source; });
  for (u64 i = out.first.size() - 1; i > 0; --i)
    out.first[i] = out.first[i - 1];
  out.first[0] = 0;
}

} // namespace dnheap
