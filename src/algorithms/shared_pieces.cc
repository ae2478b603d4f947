#include "algorithms/shared_pieces.h"

#include "base/count_bits.h"
#include "base/parallel.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace dnheap {

namespace {

void sort_out(std::vector<u64> &links) {
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

std::vector<u64> united(const std::vector<u64> &a, const std::vector<u64> &b) {
  std::vector<u64> out;
  out.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

// Sorts the parts in parallel, and merges them two by two.
std::vector<u64> unite(std::vector<std::vector<u64>> &parts, unsigned threads) {
  parallel_for(parts.size(), threads, [&](u64 i, unsigned) { sort_out(parts[i]); });
  for (u64 step = 1; step < parts.size(); step *= 2)
    for (u64 i = 0; i + step < parts.size(); i += 2 * step) {
      parts[i] = united(parts[i], parts[i + step]);
      parts[i + step] = {};
    }
  return std::move(parts[0]);
}

// The children of the virtual root: pieces have their numbers, owners follow. A bit per place and the count of bits
// before each word find the child above a place by one look, since children are many where everything is shared.
class Tops {
public:
  Tops(const DominatorTree &tree, u32 pieces)
      : tree_(tree), is_top_(static_cast<u32>(tree.end(TreePlace{0}))), before_(is_top_.words().size()) {
    u32 piece = 0;
    tree.for_each_child(TreePlace{0}, [&](TreePlace at) {
      const std::optional<OwnerId> owner = tree.owner(at);
      is_top_.set(static_cast<u32>(at));
      numbers_.push_back(owner ? pieces + static_cast<u32>(*owner) : piece++);
    });
    u32 count = 0;
    for (u64 i = 0; i < before_.size(); ++i) {
      before_[i] = count;
      count += static_cast<u32>(count_bits(is_top_.words()[i]));
    }
  }
  // Returns the child that the object lies below; nullopt if nothing reaches the object.
  std::optional<u32> of(ObjectId object) const {
    const std::optional<TreePlace> place = tree_.place(object);
    if (!place)
      return std::nullopt;
    const u32 at = static_cast<u32>(*place);
    const u64 up_to = is_top_.words()[at / 64] << (63 - at % 64);
    return numbers_[before_[at / 64] + static_cast<u32>(count_bits(up_to)) - 1];
  }

private:
  const DominatorTree &tree_;
  ObjectBits is_top_;
  std::vector<u32> before_, numbers_;
};

} // namespace

SharedPieces::SharedPieces(const DominatorTree &tree, const Edges &edges, const Owners &owners, unsigned threads,
                           const Watch &watch, u64 most_steps) {
  tree.for_each_child(TreePlace{0}, [&](TreePlace at) {
    if (tree.object(at))
      pieces_.push_back({at, 0});
  });
  if (!pieces_.empty())
    search(links_of(tree, edges, owners, threads, watch), owners, watch, most_steps);
}

SharedPieces::Links SharedPieces::links_of(const DominatorTree &tree, const Edges &edges, const Owners &owners,
                                           unsigned threads, const Watch &watch) const {
  constexpr u64 block = 65536;
  const u32 pieces = static_cast<u32>(pieces_.size());
  ObjectBits is_piece(edges.objects());
  for (const Piece &piece : pieces_)
    is_piece.set(*tree.object(piece.place));
  const Tops tops(tree, pieces);
  auto link = [](u32 from, u32 to) { return u64{from} << 32 | to; };
  std::vector<std::vector<u64>> found(std::max(threads, 1u));
  std::vector<u64> limits(found.size(), u64{1} << 20);
  parallel_for_parts(edges.objects(), block, threads, [&](u64 begin, u64 end, unsigned worker) {
    watch.check();
    std::vector<u64> &links = found[worker];
    for (u64 k = begin; k < end; ++k) {
      const ObjectId object{static_cast<u32>(k)};
      for (ObjectId target : edges.of(object)) {
        if (!is_piece.test(target) || (owners.links && owners.links->test(object) && owners.links->test(target)))
          continue;
        const std::optional<u32> from = tops.of(object), to = tops.of(target);
        if (from && *from != *to)
          links.push_back(link(*from, *to));
      }
    }
    if (links.size() > limits[worker]) { // bounds the memory, whatever the number of references
      sort_out(links);
      limits[worker] = std::max<u64>(limits[worker], 2 * links.size());
    }
  });
  found.emplace_back();
  for (const std::span<const OwnedRoot> roots : {owners.roots, owners.hubs})
    for (const OwnedRoot &root : roots)
      if (static_cast<u64>(root.object) < edges.objects() && static_cast<u32>(root.owner) < owners.count &&
          is_piece.test(root.object))
        found.back().push_back(link(pieces + static_cast<u32>(root.owner), *tops.of(root.object)));
  const std::vector<u64> all = unite(found, threads);
  Links out;
  out.first.resize(u64{pieces} + owners.count + 1);
  out.targets.reserve(all.size());
  for (u64 one : all) {
    ++out.first[(one >> 32) + 1];
    out.targets.push_back(static_cast<u32>(one));
  }
  for (u64 i = 1; i < out.first.size(); ++i)
    out.first[i] += out.first[i - 1];
  return out;
}

void SharedPieces::search(const Links &links, const Owners &owners, const Watch &watch, u64 most_steps) {
  constexpr u32 none = ~u32{0};
  const u32 pieces = static_cast<u32>(pieces_.size());
  std::vector<u32> rank_of(pieces, none), met_by(pieces, none), met, work;
  std::unordered_map<u32, u32> grown; // a set → the same set plus this owner
  const std::vector<u32> ends = owners.ranks.empty() ? std::vector<u32>{owners.precise}
                                                     : std::vector<u32>(owners.ranks.begin(), owners.ranks.end());
  u32 rank = 0;
  u64 steps = 0;
  for (u32 owner = 0; owner < owners.count; ++owner) {
    while (rank < ends.size() && owner >= ends[rank])
      ++rank;
    work = {pieces + owner};
    met.clear();
    while (!work.empty()) {
      const u32 from = work.back();
      work.pop_back();
      for (u64 i = links.first[from]; i < links.first[from + 1]; ++i) {
        const u32 to = links.targets[i];
        if (++steps % 65536 == 0)
          watch.check();
        if (met_by[to] == owner || (rank_of[to] != none && rank_of[to] != rank))
          continue; // an earlier rank reached it
        met_by[to] = owner;
        rank_of[to] = rank;
        met.push_back(to);
        work.push_back(to);
      }
      if (steps > most_steps) {
        is_complete_ = false;
        return;
      }
    }
    grown.clear();
    for (u32 piece : met) {
      u32 &set = pieces_[piece].set;
      const auto [at, is_new] = grown.try_emplace(set, static_cast<u32>(sets_.size()));
      if (is_new)
        sets_.push_back({set, owner, sets_[set].count + 1});
      set = at->second;
    }
  }
}

std::vector<OwnerId> SharedPieces::owners(u32 set) const {
  std::vector<OwnerId> out;
  for (; set; set = sets_[set].without)
    out.push_back(OwnerId{sets_[set].owner});
  std::reverse(out.begin(), out.end());
  return out;
}

} // namespace dnheap
