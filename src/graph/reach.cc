#include "graph/reach.h"

#include "base/parallel.h"
#include "graph/depth_first.h"

#include <array>
#include <bit>

namespace dnheap {
namespace {

constexpr u64 turn = u64{1} << 17;          // objects a thread looks at before work is shared out again
constexpr u64 worth_sharing = u64{1} << 12; // with less work at hand one thread goes on alone

// Objects on their way from being met to being looked at: meanwhile their places in memory arrive.
class Arrivals {
public:
  explicit Arrivals(const Edges &edges) : edges_(edges) {}
  u64 size() const { return count_; }
  bool full() const { return count_ == ring_.size(); }
  void add(u32 object) {
    __builtin_prefetch(&edges_.first[object]);
    ring_[(begin_ + count_++) % ring_.size()] = object;
  }
  // The one half-way has its bounds by now: its references come next.
  u32 take() {
    if (count_ > ring_.size() / 2) {
      u64 at = edges_.first[ring_[(begin_ + ring_.size() / 2) % ring_.size()]];
      if (at < edges_.targets.size())
        __builtin_prefetch(&edges_.targets[at]);
    }
    u32 object = ring_[begin_];
    begin_ = (begin_ + 1) % ring_.size();
    --count_;
    return object;
  }

private:
  const Edges &edges_;
  std::array<u32, 32> ring_{};
  u64 begin_ = 0, count_ = 0;
};

} // namespace

Reach::Reach(const Edges &edges, ObjectBits met, unsigned threads, const Watch &watch)
    : edges_(edges), threads_(std::max(threads, 1u)), watch_(watch), met_(std::move(met)) {}

// Looks at what waits and what follows from it, up to a turn of it; what remains waits.
void Reach::mark(std::vector<u32> &work) const {
  Arrivals arrivals(edges_);
  for (u64 looked = 0; looked < turn && !(work.empty() && arrivals.size() == 0); ++looked) {
    while (!work.empty() && !arrivals.full()) {
      arrivals.add(work.back());
      work.pop_back();
    }
    for (ObjectId target : edges_.of(ObjectId{arrivals.take()}))
      if (met_.claim(target))
        work.push_back(static_cast<u32>(target));
  }
  while (arrivals.size() > 0)
    work.push_back(arrivals.take());
}

void Reach::from(std::span<const ObjectId> starts) {
  std::vector<std::vector<u32>> work(threads_);
  for (ObjectId start : starts)
    if (static_cast<u32>(start) < edges_.objects() && met_.claim(start))
      work[0].push_back(static_cast<u32>(start));
  for (;;) {
    watch_.check();
    std::vector<u32> all;
    for (std::vector<u32> &part : work) {
      if (all.empty())
        all.swap(part);
      else
        all.insert(all.end(), part.begin(), part.end());
      part.clear();
    }
    if (all.empty())
      return;
    if (threads_ == 1 || all.size() < worth_sharing) {
      work[0].swap(all);
      mark(work[0]);
      continue;
    }
    parallel_for(threads_, threads_, [&](u64 i, unsigned) {
      work[i].assign(all.begin() + static_cast<i64>(all.size() * i / threads_),
                     all.begin() + static_cast<i64>(all.size() * (i + 1) / threads_));
      mark(work[i]);
    });
  }
}

Retained Reach::total(const ObjectSizes &sizes) const {
  Retained sum;
  const LargeArray<u64> &words = met_.words();
  for (u64 i = 0; i < words.size(); ++i)
    for (u64 word = words[i]; word != 0; word &= word - 1) {
      ++sum.objects;
      sum.bytes += sizes.of(ObjectId(i * 64 + static_cast<u64>(std::countr_zero(word))));
    }
  return sum;
}

Retained closure(const Edges &edges, const ObjectSizes &sizes, ObjectId object, unsigned threads, const Watch &watch) {
  Timer timer(watch, "closure");
  Reach reach(edges, threads, watch);
  reach.from({&object, 1});
  return reach.total(sizes);
}

RetainedBySets::RetainedBySets(const Edges &edges, const ObjectSizes &sizes, const Owners &owners, unsigned threads,
                               const Watch &watch)
    : edges_(edges), sizes_(sizes), threads_(threads), watch_(watch),
      roots_(RootsByOwner(owners, edges.objects()).objects) {
  Timer timer(watch, "reachable objects");
  Reach reach(edges_, threads_, watch_);
  reach.from(roots_);
  reached_ = reach.total(sizes_);
}

Retained RetainedBySets::of(const std::function<bool(ObjectId)> &in_set) const {
  Timer timer(watch_, "reachable without a set");
  ObjectBits met(edges_.objects());
  std::vector<std::atomic<u64>> counts(2); // objects and bytes of the set
  u64 words = met.words().size();
  constexpr u64 part_size = 1024;
  parallel_for((words + part_size - 1) / part_size, threads_, [&](u64 part, unsigned) {
    u64 objects = 0, bytes = 0;
    for (u64 i = part * part_size * 64; i < std::min(edges_.objects(), (part + 1) * part_size * 64); ++i)
      if (in_set(ObjectId(i))) {
        met.set(i);
        ++objects;
        bytes += sizes_.of(ObjectId(i));
      }
    counts[0] += objects;
    counts[1] += bytes;
  });
  Reach reach(edges_, std::move(met), threads_, watch_);
  reach.from(roots_);
  Retained left = reach.total(sizes_);
  return {reached_.objects - (left.objects - counts[0]), reached_.bytes - (left.bytes - counts[1])};
}

} // namespace dnheap
