#include "algorithms/core_graph.h"

#include "base/parallel.h"

#include <array>
#include <atomic>
#include <mutex>

namespace dnheap {
namespace {

constexpr u64 part_size = u64{1} << 16; // objects handed out to a thread at once
constexpr u64 stretch = u64{1} << 16;   // words of lists that a thread takes at once

} // namespace

// Writes the records of some objects, and takes room for lists in stretches. Each thread has its own.
class CoreGraph::Filler {
public:
  struct Shared {
    std::atomic<u64> room = 0; // in lists_, that was taken
    std::mutex mutex;          // guards the cursors
  };
  Filler(CoreGraph &core, Shared &shared) : core_(core), shared_(shared) {}

  void fill(ObjectId object, u32 number) {
    const std::span<const ObjectId> targets = core_.edges_.of(object);
    CoreObject &out = core_.objects_[number];
    out = {};
    if (targets.size() <= 3) {
      put(object, number, targets, out.targets.target);
    } else if (targets.size() <= most_in_list) {
      std::array<u32, most_in_list> list;
      put_list(std::span(list).first(put(object, number, targets, list.data())), out.targets);
    } else {
      count_leaves(number, targets);
      out.targets = {static_cast<u32>(object), new_cursor(), CoreTargets::in_edges};
    }
  }

private:
  // Writes the numbers of the targets in the core, and counts the leaves. Returns how many it wrote.
  u64 put(ObjectId object, u32 number, std::span<const ObjectId> targets, u32 *to) {
    u64 leaves = 0, count = 0;
    for (ObjectId target : targets) {
      const Block block = core_.block(target);
      const bool is_in = contains(block, target);
      leaves += !is_in && is_leaf(target);
      const bool is_followed = is_in && core_.is_followed(object, target);
      to[count] = is_followed ? CoreGraph::number(block, target) : CoreTargets::none;
      count += is_followed;
    }
    core_.few_leaves_[number] = static_cast<u8>(std::min<u64>(leaves, 255));
    return count;
  }
  void count_leaves(u32 number, std::span<const ObjectId> targets) {
    u64 leaves = 0;
    for (ObjectId target : targets)
      leaves += !core_.contains(target) && is_leaf(target);
    core_.few_leaves_[number] = static_cast<u8>(std::min<u64>(leaves, 255));
  }
  bool is_leaf(ObjectId outside) const {
    return core_.fanned_out_->from == no_object || !core_.fanned_out_->closed.test(outside);
  }
  void put_list(std::span<const u32> list, CoreTargets &out) {
    if (list.size() <= 3) {
      std::copy(list.begin(), list.end(), out.target);
      return;
    }
    if (room_end_ - room_ < list_head + list.size()) {
      room_ = shared_.room.fetch_add(stretch);
      room_end_ = room_ + stretch;
    }
    u32 *to = &core_.lists_[room_];
    to[0] = static_cast<u32>(list.size());
    std::copy(list.begin(), list.end(), to + list_head);
    out = {static_cast<u32>(room_), static_cast<u32>(room_ >> 32), CoreTargets::in_list};
    room_ += list_head + list.size();
  }
  u32 new_cursor() {
    std::lock_guard lock(shared_.mutex);
    core_.cursors_.push_back(0);
    return static_cast<u32>(core_.cursors_.size() - 1);
  }

  CoreGraph &core_;
  Shared &shared_;
  u64 room_ = 0, room_end_ = 0; // its own stretch
};

CoreGraph::CoreGraph(const Edges &edges, const ObjectBits &left_out, const FannedOut *fanned_out,
                     const ObjectBits *links, unsigned threads, const Watch &watch)
    : edges_(edges), fanned_out_(fanned_out), links_(links) {
  Timer timer(watch, "core graph");
  find_core(left_out);
  objects_ = LargeArray<CoreObject>(size_);
  few_leaves_ = LargeArray<u8>(size_);
  lists_ = LargeArray<u32>(room_for_lists(std::max(threads, 1u)));
  Filler::Shared shared;
  std::vector<Filler> fillers(std::max(threads, 1u), Filler(*this, shared));
  parallel_for_parts(edges.objects(), part_size, threads, [&](u64 begin, u64 end, unsigned worker) {
    watch.check();
    for_each(begin, end, [&](ObjectId object, u32 number) { fillers[worker].fill(object, number); });
  });
}

// Returns what lists of all references would take: pages that are not written take no memory.
u64 CoreGraph::room_for_lists(unsigned threads) const {
  std::atomic<u64> room = 0;
  parallel_for_parts(edges_.objects(), part_size, threads, [&](u64 begin, u64 end, unsigned) {
    u64 some = 0;
    for_each(begin, end, [&](ObjectId object, u32) {
      const u64 count = edges_.of(object).size();
      some += count > 3 && count <= most_in_list ? list_head + count : 0;
    });
    room += some;
  });
  return room + room / (stretch / most_in_list / 2) + (threads + 1) * stretch; // a stretch may end with a gap
}

LargeArray<u32> CoreGraph::take_met_as(unsigned threads) {
  LargeArray<u32> out(size_);
  parallel_for_parts(size_, part_size, threads, [&](u64 begin, u64 end, unsigned) {
    for (u64 i = begin; i < end; ++i)
      out[i] = objects_[i].met_as;
  });
  objects_ = {};
  return out;
}

void CoreGraph::find_core(const ObjectBits &left_out) {
  const u64 objects = edges_.objects();
  blocks_ = LargeArray<Block>(2 * left_out.words().size());
  for (u64 i = 0; i < left_out.words().size(); ++i) {
    u64 in = ~left_out.words()[i];
    if (fanned_out_->from != no_object)
      in &= ~fanned_out_->closed.words()[i];
    if (objects - i * 64 < 64)
      in &= (u64{1} << (objects % 64)) - 1;
    for (u64 half = 0; half < 2; ++half) {
      const u32 bits = static_cast<u32>(in >> 32 * half);
      blocks_[2 * i + half] = {bits, size_};
      size_ += static_cast<u32>(count_bits(bits));
    }
  }
}

} // namespace dnheap
