#include "algorithms/reach.h"

#include "algorithms/depth_first.h"
#include "base/count_bits.h"
#include "base/parallel.h"

#include <algorithm>
#include <iterator>

namespace dnheap {
namespace {

constexpr u64 worth_sharing = 8192; // a second thread is worth starting from this many waiting objects on
constexpr u64 part_size = 2048;     // objects handed out to a thread at once

// Sums the objects whose bits are set.
Retained total(const ObjectBits &bits, const ObjectSizes &sizes) {
  Retained sum;
  const LargeArray<u64> &words = bits.words();
  for (u64 i = 0; i < words.size(); ++i)
    for_each_bit(words[i], [&](u64 bit) {
      ++sum.objects;
      sum.bytes += sizes.of(ObjectId(i * 64 + bit));
    });
  return sum;
}

} // namespace

Reach::Reach(const Edges &edges, ObjectBits met, unsigned threads, const Watch &watch)
    : edges_(edges), threads_(std::max(threads, 1u)), watch_(watch), met_(std::move(met)) {}

// Queues the targets not reached yet. Breadth-first order goes along the heap, as objects are allocated in much the
// order of their referrers; depth-first order would jump.
void Reach::look_at(std::span<const u32> objects, std::vector<u32> &next) {
  edges_.for_each_of(objects, [&](u32, std::span<const ObjectId> targets) {
    for (ObjectId target : targets)
      if (meet(target))
        next.push_back(static_cast<u32>(target));
  });
}

bool Reach::from(std::span<const ObjectId> starts, u64 most) {
  std::vector<std::vector<u32>> waiting(threads_), next(threads_);
  for (ObjectId start : starts)
    if (static_cast<u32>(start) < edges_.objects() && meet(start))
      waiting[0].push_back(static_cast<u32>(start));
  for (u64 rounds = 0;; ++rounds) {
    u64 count = 0;
    for (const std::vector<u32> &part : waiting)
      count += part.size();
    if (count == 0)
      return true;
    if (count > most)
      return false;
    most -= count;
    if (count > worth_sharing || rounds % 0x1000 == 0)
      watch_.check();
    for (const std::vector<u32> &part : waiting)
      parallel_for_parts(part.size(), part_size, count < worth_sharing ? 1 : threads_,
                         [&](u64 begin, u64 end, unsigned worker) {
                           look_at(std::span(part).subspan(begin, end - begin), next[worker]);
                         });
    waiting.swap(next);
    for (std::vector<u32> &part : next)
      part.clear();
  }
}

Retained Reach::total(const ObjectSizes &sizes) const { return dnheap::total(met_, sizes); }

RetainedBySets::RetainedBySets(const Edges &edges, const ObjectSizes &sizes, const Owners &owners, unsigned threads,
                               const Watch &watch)
    : edges_(edges), sizes_(sizes), threads_(threads), watch_(watch), held_precisely_(edges.objects()) {
  Timer timer(watch, "reachable objects");
  RootsByOwner roots(owners, edges.objects());
  const auto conservative = roots.objects.begin() + static_cast<i64>(roots.first[owners.precise]);
  precise_.assign(roots.objects.begin(), conservative);
  Reach reach(edges_, threads_, watch_);
  reach.from(precise_);
  const LargeArray<u64> &met = reach.met().words();
  std::copy(met.begin(), met.end(), held_precisely_.words().begin());
  std::copy_if(conservative, roots.objects.end(), std::back_inserter(conservative_),
               [&](ObjectId root) { return !held_precisely_.test(root); });
  reach.from(conservative_);
  reached_ = reach.total(sizes_);
}

Retained RetainedBySets::of(const std::function<bool(ObjectId)> &in_set) const {
  Timer timer(watch_, "reachable without a set");
  ObjectBits met(edges_.objects());
  std::vector<std::atomic<u64>> counts(2); // objects and bytes of the set
  parallel_for_parts(edges_.objects(), 1024 * 64, threads_, [&](u64 begin, u64 end, unsigned) { // parts of whole words
    u64 objects = 0, bytes = 0;
    for (u64 i = begin; i < end; ++i)
      if (in_set(ObjectId(i))) {
        met.set(i);
        ++objects;
        bytes += sizes_.of(ObjectId(i));
      }
    counts[0] += objects;
    counts[1] += bytes;
  });
  Reach reach(edges_, std::move(met), threads_, watch_);
  reach.from(precise_);
  const Retained left = reach.total(sizes_), others = held_conservatively_without(reach.met());
  return {reached_.objects - (left.objects - counts[0]) - others.objects,
          reached_.bytes - (left.bytes - counts[1]) - others.bytes};
}

// `out` holds the set and the objects that precise owners still reach. Objects that precise owners reached before the
// removal do not become conservatively held.
Retained RetainedBySets::held_conservatively_without(const ObjectBits &out) const {
  if (conservative_.empty())
    return {};
  ObjectBits met(edges_.objects());
  for (u64 i = 0; i < met.words().size(); ++i)
    met.words()[i] = out.words()[i] | held_precisely_.words()[i];
  Reach reach(edges_, std::move(met), threads_, watch_);
  reach.from(conservative_);
  ObjectBits fresh(edges_.objects());
  for (u64 i = 0; i < fresh.words().size(); ++i)
    fresh.words()[i] = reach.met().words()[i] & ~(out.words()[i] | held_precisely_.words()[i]);
  return total(fresh, sizes_);
}

} // namespace dnheap
