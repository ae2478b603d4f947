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

// Sorts one thread's part. References wait in two short queues: while the numbers of their targets are prefetched, and
// those to later vertices while the least sources of these are.
class CrossEdges::Sorter {
public:
  Sorter(DepthFirst &search, Writer &writer) : search_(search), writer_(writer) {}

  // The vertices [begin, end) belong to one rank. Earlier ranks take precedence over it; a reference to a later rank
  // leads to a hub.
  void set_rank(u32 begin, u32 end) {
    if (begin != rank_begin_ || end != rank_end_)
      drain();
    rank_begin_ = begin;
    rank_end_ = end;
  }
  // Returns whether the target is left out.
  bool sort_out(ObjectId target, u32 source) {
    if (search_.left_out.test(target))
      return true;
    __builtin_prefetch(&search_.number[static_cast<u32>(target)]);
    if (numbers_.is_full())
      take_oldest();
    numbers_.put({static_cast<u32>(target), source});
    return false;
  }
  void drain() {
    while (!numbers_.is_empty())
      take_oldest();
    while (!later_.is_empty())
      lower_oldest();
  }

private:
  struct Waiting {
    u32 target, source;
  };
  struct Queue {
    bool is_empty() const { return begin == end; }
    bool is_full() const { return end - begin == waiting.size(); }
    void put(Waiting one) { waiting[end++ % waiting.size()] = one; }
    Waiting take() { return waiting[begin++ % waiting.size()]; }

    std::array<Waiting, 32> waiting;
    u64 begin = 0, end = 0;
  };

  void take_oldest() {
    const Waiting reference = numbers_.take();
    const u32 number = search_.number[reference.target];
    if (number > reference.source) {
      // The next vertex was reached from this one.
      if (number < rank_end_ && number != reference.source + 1)
        lower_later(number, reference.source);
    } else if (number < reference.source && number >= rank_begin_) {
      writer_.add(number, reference.source);
    }
  }
  void lower_later(u32 number, u32 source) {
    __builtin_prefetch(&search_.least[number]);
    if (later_.is_full())
      lower_oldest();
    later_.put({number, source});
  }
  void lower_oldest() {
    const Waiting reference = later_.take();
    lower(search_.least[reference.target], reference.source);
  }

  DepthFirst &search_;
  Writer &writer_;
  u32 rank_begin_ = 0, rank_end_ = 0;
  Queue numbers_, later_; // targets: ObjectIds, numbers of vertices
};

CrossEdges::CrossEdges(const RootsByOwner &roots, DepthFirst &search, unsigned threads, const Watch &watch)
    : few_leaves(search.vertices), vertices_(search.vertices),
      buckets_((search.vertices + (bucket_size - 1)) >> bucket_bits), writers_(std::max(threads, 1u)) {
  Timer timer(watch, "cross edges");
  for (Writer &writer : writers_)
    writer.lists.resize(buckets_);
  parallel_for_parts(vertices_, vertices_at_once, threads, [&](u64 begin, u64 end, unsigned worker) {
    watch.check();
    Sorter sorter(search, writers_[worker]);
    const std::vector<u32> &ends = search.rank_ends;
    auto rank_end = std::upper_bound(ends.begin(), ends.end(), begin);
    auto owner = std::lower_bound(search.owner_vertices.begin(), search.owner_vertices.end(), begin);
    for (u64 v = begin; v < end; ++v) {
      while (v >= *rank_end)
        ++rank_end;
      sorter.set_rank(rank_end == ends.begin() ? 1 : *std::prev(rank_end), *rank_end);
      if (v + ahead < end)
        search.core.prefetch(search.vertex[v + ahead].targets());
      u64 leaves = 0;
      search.core.for_each_of(search.vertex[v].targets(),
                              [&](ObjectId target) { leaves += sorter.sort_out(target, static_cast<u32>(v)); });
      few_leaves[v] = static_cast<u8>(std::min<u64>(leaves, 255));
      if (owner != search.owner_vertices.end() && *owner == v) {
        const u32 number = static_cast<u32>(owner++ - search.owner_vertices.begin());
        few_leaves[v] = sort_out_roots(roots.of(number), static_cast<u32>(v), sorter);
      }
    }
    sorter.drain();
  });
}

// Returns how many left-out objects there are, at most 255.
u8 CrossEdges::sort_out_roots(std::span<const ObjectId> roots, u32 owner, Sorter &sorter) {
  u64 leaves = 0;
  for (ObjectId root : roots)
    leaves += sorter.sort_out(root, owner);
  return static_cast<u8>(std::min<u64>(leaves, 255));
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
