#include "algorithms/piece_links.h"

#include "base/parallel.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 part = 65536; // objects, or sources, handed out to a thread at once

// One thread's links, in the order in which they are found, in blocks: a vector that grows would need the memory of
// all of them once more. They are sorted, and those that are the same become one, when there are too many: that bounds
// the memory, whatever the number of references.
class Found {
public:
  explicit Found(u64 most) : most_(most) {}

  void add(u32 from, u32 to) {
    if (blocks_.empty() || blocks_.back().size() == block) {
      if (blocks_.size() * block >= most_)
        sort_out();
      blocks_.emplace_back().reserve(block);
    }
    blocks_.back().push_back(u64{from} << 32 | to);
  }
  u64 count() const {
    u64 out = 0;
    for (const std::vector<u64> &some : blocks_)
      out += some.size();
    return out;
  }
  template <class Visit> void for_each(Visit &&visit) const {
    for (const std::vector<u64> &some : blocks_)
      for_each(some, visit);
  }
  // The same; each block is freed once it was visited.
  template <class Visit> void use_up(Visit &&visit) {
    for (std::vector<u64> &some : blocks_) {
      for_each(some, visit);
      std::vector<u64>().swap(some);
    }
  }

private:
  static constexpr u64 block = u64{1} << 17;

  template <class Visit> static void for_each(const std::vector<u64> &some, Visit &&visit) {
    for (u64 link : some)
      visit(static_cast<u32>(link >> 32), static_cast<u32>(link));
  }
  void sort_out() {
    std::vector<u64> all;
    all.reserve(count());
    for (const std::vector<u64> &some : blocks_)
      all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    most_ = std::max<u64>(most_, 2 * all.size());
    blocks_.clear();
    for (u64 at = 0; at < all.size(); at += block) {
      blocks_.emplace_back().reserve(block);
      const auto begin = all.begin() + static_cast<i64>(at);
      blocks_.back().assign(begin, begin + static_cast<i64>(std::min(block, all.size() - at)));
    }
  }

  u64 most_;
  std::vector<std::vector<u64>> blocks_;
};

// The piece or owner that an object lies below.
class Tops {
public:
  Tops(const DominatorTree &tree, const RankedBits &pieces) : tree_(tree), pieces_(pieces), at_(tree.size()) {
    numbers_.reserve(pieces.count());
    tree.for_each_child(TreePlace{0}, [&](TreePlace at) {
      at_.set(static_cast<u32>(at));
      const std::optional<OwnerId> owner = tree.owner(at);
      numbers_.push_back(static_cast<u32>(owner ? pieces.count() + static_cast<u32>(*owner)
                                                : pieces.rank(static_cast<u32>(*tree.object(at)))));
    });
    at_.count_up();
  }
  // Returns nullopt if nothing reaches the object.
  std::optional<u32> of(ObjectId object) const {
    if (const u32 i = static_cast<u32>(object); pieces_.test(i))
      return static_cast<u32>(pieces_.rank(i));
    const std::optional<TreePlace> place = tree_.place(object);
    if (!place)
      return std::nullopt;
    return numbers_[at_.rank(u64{static_cast<u32>(*place)} + 1) - 1];
  }

private:
  const DominatorTree &tree_;
  const RankedBits &pieces_;
  RankedBits at_; // a bit by place
  std::vector<u32> numbers_;
};

// Sorts numbers below `limit`: many of them by setting bits, which takes one sweep whatever their order.
void sort_numbers(std::span<u32> numbers, u64 limit, std::vector<u64> &bits) {
  if (numbers.size() < 64 || numbers.size() < limit / 256)
    return std::sort(numbers.begin(), numbers.end());
  bits.assign(limit / 64 + 1, 0);
  for (u32 number : numbers)
    bits[number / 64] |= u64{1} << (number % 64);
  u64 count = 0;
  for (u64 i = 0; i < bits.size(); ++i)
    for_each_bit(bits[i], [&](u64 bit) { numbers[count++] = static_cast<u32>(i * 64 + bit); });
  std::fill(numbers.begin() + static_cast<i64>(count), numbers.end(), count ? numbers[count - 1] : 0);
}

// Returns each thread's.
std::vector<Found> find_links(const DominatorTree &tree, const Edges &edges, const Owners &owners,
                              const RankedBits &pieces, unsigned threads, const Watch &watch) {
  constexpr u64 ahead = 24;
  const Tops tops(tree, pieces);
  std::vector<Found> out(threads, Found(std::max(u64{1} << 20, 2 * edges.objects() / threads)));
  parallel_for_parts(edges.objects(), part, threads, [&](u64 begin, u64 end, unsigned worker) {
    watch.check();
    for (u64 k = begin, at = edges.begin(begin); k < end; ++k) {
      const ObjectId object{static_cast<u32>(k)};
      const bool is_link = owners.links && owners.links->test(object);
      std::optional<u32> from;
      for (const u64 last = edges.begin(k + 1); at < last; ++at) {
        if (at + ahead < edges.targets.size())
          pieces.prefetch(static_cast<u32>(edges.targets[at + ahead]));
        const ObjectId target = edges.targets[at];
        if (!pieces.test(static_cast<u32>(target)) || (is_link && owners.links->test(target)))
          continue;
        if (!from && !(from = tops.of(object))) { // nothing reaches the object
          at = last;
          break;
        }
        if (const u32 to = static_cast<u32>(pieces.rank(static_cast<u32>(target))); *from != to)
          out[worker].add(*from, to);
      }
    }
  });
  for (const std::span<const OwnedRoot> roots : {owners.roots, owners.hubs})
    for (const OwnedRoot &root : roots)
      if (const u32 object = static_cast<u32>(root.object);
          object < edges.objects() && static_cast<u32>(root.owner) < owners.count && pieces.test(object))
        out[0].add(static_cast<u32>(pieces.count() + static_cast<u32>(root.owner)),
                   static_cast<u32>(pieces.rank(object)));
  return out;
}

} // namespace

PieceLinks::PieceLinks(const DominatorTree &tree, const Edges &edges, const Owners &owners, const RankedBits &pieces,
                       unsigned threads, const Watch &watch) {
  threads = std::max(threads, 1u);
  const u64 sources = pieces.count() + owners.count;
  std::vector<Found> found = find_links(tree, edges, owners, pieces, threads, watch);
  // Counts by source stand two places on, their sums one: filling in moves each up to where its own list ends.
  first_ = LargeArray<u64>(sources + 2);
  u64 count = 0;
  for (const Found &some : found) {
    some.for_each([&](u32 from, u32) { ++first_[u64{from} + 2]; });
    count += some.count();
  }
  for (u64 i = 2; i < first_.size(); ++i)
    first_[i] += first_[i - 1];
  targets_ = LargeArray<u32>(count);
  for (Found &some : found)
    some.use_up([&](u32 from, u32 to) { targets_[first_[u64{from} + 1]++] = to; });

  std::vector<std::vector<u64>> bits(threads);
  parallel_for_parts(sources, part, threads, [&](u64 begin, u64 end, unsigned worker) {
    watch.check();
    for (u64 i = begin; i < end; ++i)
      sort_numbers({targets_.data() + first_[i], first_[i + 1] - first_[i]}, pieces.count(), bits[worker]);
  });
  u32 *to = targets_.data();
  for (u64 i = 0, at = 0; i < sources; ++i) {
    u32 *const from = targets_.data() + at, *const end = std::unique(from, targets_.data() + first_[i + 1]);
    at = first_[i + 1];
    first_[i] = static_cast<u64>(to - targets_.data());
    to = to == from ? end : std::copy(from, end, to);
  }
  first_[sources] = static_cast<u64>(to - targets_.data());
}

} // namespace dnheap
