#include "algorithms/shared_pieces.h"

#include <algorithm>
#include <unordered_map>

namespace dnheap {

SharedPieces::SharedPieces(const DominatorTree &tree, const Edges &edges, const Owners &owners, unsigned threads,
                           const Watch &watch, u64 most_steps) {
  RankedBits numbers(edges.objects());
  const auto for_each_piece = [&](auto visit) {
    tree.for_each_child(TreePlace{0}, [&](TreePlace at) {
      if (const std::optional<ObjectId> object = tree.object(at))
        visit(at, static_cast<u32>(*object));
    });
  };
  for_each_piece([&](TreePlace, u32 object) { numbers.set(object); });
  numbers.count_up();
  if (!numbers.count())
    return;
  const LargeArray<Met> met = search(PieceLinks(tree, edges, owners, numbers, threads, watch),
                                     static_cast<u32>(numbers.count()), owners, watch, most_steps);
  pieces_.reserve(numbers.count());
  for_each_piece([&](TreePlace at, u32 object) { pieces_.push_back({at, met[numbers.rank(object)].set}); });
}

LargeArray<SharedPieces::Met> SharedPieces::search(const PieceLinks &links, u32 pieces, const Owners &owners,
                                                   const Watch &watch, u64 most_steps) {
  constexpr u64 ahead = 16;
  LargeArray<Met> all(pieces);
  std::vector<u32> met;
  std::unordered_map<u32, u32> grown; // a set → the same set plus this owner
  const std::vector<u32> ends = owners.ranks.empty() ? std::vector<u32>{owners.precise}
                                                     : std::vector<u32>(owners.ranks.begin(), owners.ranks.end());
  // What is met first is looked at first, so that it is known early what comes next.
  const auto bring_in = [&](u64 done) {
    if (done + 3 * ahead < met.size())
      links.prefetch(met[done + 3 * ahead]);
    if (done + 2 * ahead < met.size())
      links.prefetch_targets(met[done + 2 * ahead]);
    if (done + ahead < met.size()) {
      const std::span<const u32> targets = links.of(met[done + ahead]);
      for (u64 i = 0; i < std::min<u64>(targets.size(), 4); ++i)
        __builtin_prefetch(&all[targets[i]], 1);
    }
  };
  std::vector<u32> rank_of(u64{owners.count} + 1); // by Met::by
  u32 rank = 0;
  u64 steps = 0;
  for (u32 owner = 0; owner < owners.count; ++owner) {
    while (rank < ends.size() && owner >= ends[rank])
      ++rank;
    rank_of[owner + 1] = rank;
    met.clear();
    u32 from = pieces + owner;
    for (u64 done = 0;; from = met[done++]) {
      const std::span<const u32> targets = links.of(from);
      for (u64 i = 0; i < targets.size(); ++i) {
        if (++steps % 65536 == 0)
          watch.check();
        if (i + ahead < targets.size())
          __builtin_prefetch(&all[targets[i + ahead]], 1);
        Met &to = all[targets[i]];
        if (to.by == owner + 1 || (to.by && rank_of[to.by] != rank))
          continue; // an earlier rank reached it
        to.by = owner + 1;
        met.push_back(targets[i]);
      }
      if (steps > most_steps) {
        is_complete_ = false;
        return all;
      }
      if (done == met.size())
        break;
      bring_in(done);
    }
    grown.clear();
    u32 before = ~u32{0}, after = 0; // of the last piece: most are as that one
    for (u32 piece : met) {
      u32 &set = all[piece].set;
      if (set != before) {
        before = set;
        const auto [at, is_new] = grown.try_emplace(set, static_cast<u32>(sets_.size()));
        if (is_new)
          sets_.push_back({set, owner, sets_[set].count + 1});
        after = at->second;
      }
      set = after;
    }
  }
  return all;
}

std::vector<OwnerId> SharedPieces::owners(u32 set) const {
  std::vector<OwnerId> out;
  for (; set; set = sets_[set].without)
    out.push_back(OwnerId{sets_[set].owner});
  std::reverse(out.begin(), out.end());
  return out;
}

} // namespace dnheap
