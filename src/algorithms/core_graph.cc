#include "algorithms/core_graph.h"

#include "base/parallel.h"

#include <mutex>

namespace dnheap {
namespace {

constexpr u64 part_size = u64{1} << 16; // objects handed out to a thread at once

} // namespace

// Writes the records of objects.
class CoreGraph::Filler {
public:
  explicit Filler(CoreGraph &core) : core_(core) {}

  void fill(ObjectId object, u32 number) {
    const std::span<const ObjectId> targets = core_.edges_.of(object);
    CoreObject &out = core_.objects_[number];
    if (targets.size() > 3) {
      out = {0, list_of(object, targets)};
      return;
    }
    out = {};
    for (u64 i = 0; i < targets.size(); ++i)
      if (core_.is_followed(object, targets[i]))
        out.targets.target[i] = static_cast<u32>(targets[i]);
  }

private:
  CoreTargets list_of(ObjectId object, std::span<const ObjectId> targets) {
    const u64 begin = core_.edges_.begin(static_cast<u32>(object));
    const bool is_plain = object != core_.fanned_out_->from && !(core_.links_ && core_.links_->test(object));
    if (is_plain && targets.size() <= CoreTargets::most_in_list && begin < CoreTargets::list_begin_limit)
      return CoreTargets::of({begin, static_cast<u32>(targets.size()), 0});
    return {{static_cast<u32>(object), new_cursor(), CoreTargets::in_edges}};
  }
  u32 new_cursor() {
    std::lock_guard lock(mutex_);
    core_.cursors_.push_back(0);
    return static_cast<u32>(core_.cursors_.size() - 1);
  }

  CoreGraph &core_;
  std::mutex mutex_; // guards the cursors
};

CoreGraph::CoreGraph(const Edges &edges, const ObjectBits &left_out, const FannedOut *fanned_out,
                     const ObjectBits *links, unsigned threads, const Watch &watch)
    : edges_(edges), fanned_out_(fanned_out), links_(links) {
  Timer timer(watch, "core graph");
  find_core(left_out, threads);
  objects_ = LargeArray<CoreObject>(size_);
  Filler filler(*this);
  parallel_for_parts(edges.objects(), part_size, threads, [&](u64 begin, u64 end, unsigned) {
    watch.check();
    for_each(begin, end, [&](ObjectId object, u32 number) { filler.fill(object, number); });
  });
}

void CoreGraph::take_met_as(LargeArray<u32> &out, unsigned threads) {
  parallel_for_parts(edges_.objects(), part_size, threads, [&](u64 begin, u64 end, unsigned) {
    for_each(begin, end, [&](ObjectId object, u32 number) { out[static_cast<u32>(object)] = objects_[number].met_as; });
  });
  objects_ = {};
}

void CoreGraph::find_core(const ObjectBits &left_out, unsigned threads) {
  const u64 objects = edges_.objects();
  blocks_ = LargeArray<Block>((objects + 31) / 32);
  const bool any_closed = fanned_out_->from != no_object;
  parallel_for_parts(objects, part_size, threads, [&](u64 begin, u64 end, unsigned) {
    for (u64 word = begin / 64; word * 64 < end; ++word) {
      u64 in = ~(left_out.words()[word] | (any_closed ? fanned_out_->closed.words()[word] : 0));
      if (end - word * 64 < 64)
        in &= (u64{1} << (end % 64)) - 1;
      for_each_bit(in, [&](u64 bit) {
        if (const u64 i = word * 64 + bit; edges_.begin(i) != edges_.begin(i + 1))
          blocks_[i / 32].bits |= u32{1} << (i % 32);
      });
    }
  });
  for (Block &block : blocks_) {
    block.before = size_;
    size_ += static_cast<u32>(count_bits(block.bits));
  }
}

} // namespace dnheap
