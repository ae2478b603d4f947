#include "algorithms/cross_edges.h"

#include "base/parallel.h"

#include <algorithm>
#include <array>

namespace dnheap {
namespace {

constexpr u64 slab_chunks = 512; // 4 MiB
constexpr u32 vertices_at_once = 1u << 14;
constexpr u64 ahead = 12; // prefetch distance in vertices

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

// Sorts one thread's part. References wait in a short queue while the numbers of their targets are prefetched.
class CrossEdges::Sorter {
public:
  Sorter(DepthFirst &search, LargeArray<u8> &few_leaves, Writer &writer)
      : search_(search), few_leaves_(few_leaves), writer_(writer) {}

  // The vertices [begin, end) belong to one rank. Earlier ranks take precedence over it; a reference to a later rank
  // leads to a hub.
  void set_rank(u32 begin, u32 end) {
    if (begin != rank_begin_ || end != rank_end_)
      drain();
    rank_begin_ = begin;
    rank_end_ = end;
  }
  // `links` is null unless the source is a link itself.
  void sort_out(std::span<const ObjectId> targets, u32 source, const ObjectBits *links) {
    u64 leaves = 0;
    for (ObjectId target : targets) {
      if (search_.settled.test(target)) {
        leaves += search_.left_out.test(target);
      } else if (!links || !links->test(target)) [[likely]] {
        __builtin_prefetch(&search_.number[static_cast<u32>(target)]);
        if (end_ - begin_ == waiting_.size())
          take_oldest();
        waiting_[end_++ % waiting_.size()] = {static_cast<u32>(target), source};
      }
    }
    few_leaves_[source] = static_cast<u8>(std::min<u64>(leaves, 255));
  }
  void drain() {
    while (begin_ != end_)
      take_oldest();
  }

private:
  struct Waiting {
    u32 target, source;
  };
  void take_oldest() {
    const Waiting reference = waiting_[begin_++ % waiting_.size()];
    const u32 number = search_.number[reference.target];
    if (number > reference.source) {
      if (number < rank_end_)
        lower(search_.vertex[number].semi, reference.source);
    } else if (number < reference.source && number >= rank_begin_) {
      writer_.add(number, reference.source);
    }
  }

  DepthFirst &search_;
  LargeArray<u8> &few_leaves_;
  Writer &writer_;
  u32 rank_begin_ = 0, rank_end_ = 0;
  std::array<Waiting, 32> waiting_;
  u64 begin_ = 0, end_ = 0;
};

CrossEdges::CrossEdges(const Edges &edges, const Owners &owners, const RootsByOwner &roots, DepthFirst &search,
                       unsigned threads, const Watch &watch)
    : few_leaves(search.vertices), vertices_(search.vertices),
      buckets_((search.vertices + (bucket_size - 1)) >> bucket_bits), writers_(std::max(threads, 1u)) {
  Timer timer(watch, "cross edges");
  for (Writer &writer : writers_)
    writer.lists.resize(buckets_);
  u64 objects = edges.objects();
  parallel_for_parts(vertices_, vertices_at_once, threads, [&](u64 begin, u64 end, unsigned worker) {
    watch.check();
    Sorter sorter(search, few_leaves, writers_[worker]);
    const std::vector<u32> &ends = search.rank_ends;
    auto rank_end = std::upper_bound(ends.begin(), ends.end(), begin);
    for (u64 v = begin; v < end; ++v) {
      while (v >= *rank_end)
        ++rank_end;
      sorter.set_rank(rank_end == ends.begin() ? 1 : *std::prev(rank_end), *rank_end);
      if (v + 2 * ahead < end && search.object[v + 2 * ahead] < objects)
        edges.prefetch(search.object[v + 2 * ahead]);
      if (v + ahead < end && search.object[v + ahead] < objects)
        edges.prefetch_targets(search.object[v + ahead]);
      u32 object = search.object[v];
      if (object < objects)
        sorter.sort_out(edges.of(ObjectId{object}), static_cast<u32>(v),
                        owners.links && owners.links->test(u64{object}) ? owners.links : nullptr);
      else if (object < objects + owners.count)
        sorter.sort_out(roots.of(static_cast<u32>(object - objects)), static_cast<u32>(v), nullptr);
    }
    sorter.drain();
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
  // The increments have moved each entry of `first` to where the next entry began.
  each([&](u32 i, u32 source) { out.sources[out.first[i]++] = source; });
  for (u64 i = out.first.size() - 1; i > 0; --i)
    out.first[i] = out.first[i - 1];
  out.first[0] = 0;
}

} // namespace dnheap
