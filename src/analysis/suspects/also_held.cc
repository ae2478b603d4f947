#include "analysis/suspects/also_held.h"

#include "algorithms/reach.h"
#include "base/count_bits.h"
#include "base/parallel.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 nobody = ~u32{0};
constexpr u64 block = 1 << 12; // words of bits per parallel step

// Maps each place of the tree to the innermost of `places` that contains it.
struct Stretches {
  std::vector<u32> begins; // ascending; a stretch ends where the next one begins
  std::vector<u32> whose;  // for each stretch: number of the innermost place, or nobody

  Stretches(const DominatorTree &tree, std::span<const HeldPlace> places) {
    std::vector<u32> order(places.size());
    for (u32 i = 0; i < order.size(); ++i)
      order[i] = i;
    auto begin = [&](u32 i) { return static_cast<u32>(places[i].place); };
    auto end = [&](u32 i) { return static_cast<u32>(tree.end(places[i].place)); };
    // Sorts the outer one first if two begin at the same place.
    std::sort(order.begin(), order.end(),
              [&](u32 a, u32 b) { return begin(a) != begin(b) ? begin(a) < begin(b) : end(a) > end(b); });
    std::vector<u32> open;
    auto close_before = [&](u32 at) {
      while (!open.empty() && end(open.back()) <= at) {
        const u32 closed = end(open.back());
        open.pop_back();
        add(closed, open.empty() ? nobody : open.back());
      }
    };
    for (u32 i : order) {
      close_before(begin(i));
      add(begin(i), i);
      open.push_back(i);
    }
    close_before(nobody);
  }

  u32 find(TreePlace at) const {
    auto next = std::upper_bound(begins.begin(), begins.end(), static_cast<u32>(at));
    return next == begins.begin() ? nobody : whose[static_cast<u64>(next - begins.begin()) - 1];
  }

private:
  void add(u32 at, u32 number) {
    if (!begins.empty() && begins.back() == at) {
      whose.back() = number;
      return;
    }
    begins.push_back(at);
    whose.push_back(number);
  }
};

} // namespace

std::vector<AlsoHeld> find_also_held(const ObjectGraph &graph, const RankedOwners &owners, const DominatorTree &tree,
                                     std::span<const HeldPlace> places, unsigned threads, const Watch &watch) {
  std::vector<AlsoHeld> out(places.size());
  OwnerRank first = OwnerRank::chance;
  for (const HeldPlace &one : places)
    first = std::min(first, one.rank);
  if (first >= OwnerRank::plumbing)
    return out;
  Timer timer(watch, "also held");
  const Stretches stretches(tree, places);
  const Edges edges = graph.edges();
  const Owners view = owners.view();
  // A hub owns what it holds, whoever reaches the hub: no search goes through one.
  ObjectBits met(edges.objects());
  for (const OwnedRoot &hub : view.hubs)
    met.set(hub.object);
  LargeArray<u64> before(met.words().size());
  std::copy(met.words().begin(), met.words().end(), before.begin());
  Reach reach(edges, std::move(met), threads, watch);
  std::vector<u64> most(places.size());
  for (u8 rank = static_cast<u8>(OwnerRank::plumbing); rank > static_cast<u8>(first); --rank) {
    std::vector<ObjectId> starts;
    auto is_of_rank = [&](OwnerId owner) { return owners[owner].rank == static_cast<OwnerRank>(rank); };
    for (const OwnedRoot &root : view.roots)
      if (static_cast<u32>(root.owner) < view.count && is_of_rank(root.owner))
        starts.push_back(root.object);
    for (const OwnedRoot &hub : view.hubs)
      if (is_of_rank(hub.owner))
        for (ObjectId target : edges.of(hub.object))
          starts.push_back(target);
    reach.from(starts);

    std::vector<std::vector<u64>> sums(std::max(threads, 1u), std::vector<u64>(places.size()));
    const LargeArray<u64> &now = reach.met().words();
    parallel_for_parts(now.size(), block, threads, [&](u64 begin, u64 end, unsigned worker) {
      for (u64 word = begin; word < end; ++word) {
        for_each_bit(now[word] & ~before[word], [&](u64 bit) {
          const std::optional<TreePlace> at = tree.place(ObjectId(static_cast<u32>(word * 64 + bit)));
          if (const u32 whose = at ? stretches.find(*at) : nobody; whose != nobody)
            sums[worker][whose] += tree.own_bytes(*at);
        });
        before[word] = now[word];
      }
    });
    for (u64 i = 0; i < places.size(); ++i) {
      u64 bytes = 0;
      for (const std::vector<u64> &part : sums)
        bytes += part[i];
      if (static_cast<u8>(places[i].rank) >= rank)
        continue;
      out[i].bytes += bytes;
      if (bytes > most[i]) {
        most[i] = bytes;
        out[i].by = static_cast<OwnerRank>(rank);
      }
    }
  }
  return out;
}

} // namespace dnheap
