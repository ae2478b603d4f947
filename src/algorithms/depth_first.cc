#include "algorithms/depth_first.h"

#include "base/error.h"
#include "base/parallel.h"

#include <atomic>
#include <unordered_map>

namespace dnheap {
namespace {

constexpr u64 chunk = u64{1} << 20;       // edges handed out to a thread at once
constexpr u64 object_part = u64{1} << 18; // objects per part, in whole words of bits

// Two bits per object. Both are set for objects that have references of their own. For other objects the low bit means
// that one reference to the object was seen, the high bit that two were.
class SeenTwice {
public:
  SeenTwice(const Edges &edges, unsigned threads) : words_((edges.objects() + 31) / 32) {
    parallel_for_parts(edges.objects(), object_part, threads, [&](u64 begin, u64 end, unsigned) {
      for (u64 i = begin; i < end; ++i)
        words_[i / 32] |= u64{edges.begin(i) != edges.begin(i + 1) ? 3u : 0u} << (i % 32 * 2);
    });
  }
  void see(std::span<const ObjectId> targets) {
    for (ObjectId target : targets) {
      u32 shift = static_cast<u32>(target) % 32 * 2;
      std::atomic_ref<u64> word(words_[static_cast<u32>(target) / 32]);
      if (word.load(std::memory_order_relaxed) >> shift & 2)
        continue;
      if (word.fetch_or(u64{1} << shift, std::memory_order_relaxed) >> shift & 1)
        word.fetch_or(u64{2} << shift, std::memory_order_relaxed);
    }
  }
  bool operator[](u64 i) const { return words_[i / 32] >> (i % 32 * 2) & 2; }

private:
  LargeArray<u64> words_;
};

// Sets the bits in `out` of objects that need no number, and returns how many there are.
u64 find_left_out(const Edges &edges, const RootsByOwner &roots, unsigned threads, const Watch &watch,
                  ObjectBits &out) {
  SeenTwice twice(edges, threads);
  parallel_for_parts(edges.targets.size(), chunk, threads, [&](u64 begin, u64 end, unsigned) {
    watch.check();
    twice.see(edges.targets.subspan(begin, end - begin));
  });
  twice.see(roots.objects);
  std::atomic<u64> count{0};
  parallel_for_parts(edges.objects(), object_part, threads, [&](u64 begin, u64 end, unsigned) {
    u64 found = 0;
    for (u64 i = begin; i < end; ++i)
      if (!twice[i]) {
        out.set(i);
        ++found;
      }
    count += found;
  });
  return count;
}

class Search {
public:
  Search(const Edges &edges, const ObjectBits *links, DepthFirst &out, const Watch &watch)
      : edges_(edges), links_(links), fanned_out_(out.fanned_out), out_(out), watch_(watch), met_(edges.objects()) {
    std::copy(out.settled.words().begin(), out.settled.words().end(), met_.words().begin());
  }

  // Keeps the search from entering the object until let_through() is called.
  void hold_back(ObjectId object) {
    held_[static_cast<u32>(object)] = met_.test(object);
    met_.set(object);
  }
  void let_through(ObjectId object) {
    if (auto held = held_.find(static_cast<u32>(object)); held != held_.end() && !held->second)
      met_.reset(object);
  }

  u32 add(u32 object, u32 parent) {
    u32 v = out_.vertices++;
    out_.object[v] = object;
    out_.vertex[v] = {parent, 0, parent, 0};
    return v;
  }

  void run(ObjectId start, u32 owner) {
    if (met_.test(start))
      return;
    u32 v = enter(start, owner);
    while (v != owner) {
      if (++steps_ % 0x10000 == 0)
        watch_.check();
      v = meet_next() ? descend(v) : leave(v);
    }
  }

private:
  // Advances in the references of the current vertex. Returns true at an object not yet reached.
  bool meet_next() {
    while (at_ != end_) {
      found_ = *at_++;
      if (at_ + ahead < end_)
        edges_.prefetch(static_cast<u32>(at_[ahead]));
      if (!met_.test(found_) && !(is_link_ && links_->test(found_)))
        return true;
      if (fans_out_ && fanned_out_.objects.test(found_) && !fanned_out_.closed.test(found_) &&
          !out_.number[static_cast<u32>(found_)])
        return true;
    }
    return false;
  }
  u32 enter(ObjectId object, u32 parent) {
    met_.set(object);
    u32 v = add(static_cast<u32>(object), parent);
    out_.number[static_cast<u32>(object)] = v;
    is_link_ = links_ && links_->test(object);
    fans_out_ = object == fanned_out_.from;
    if (fans_out_)
      fanning_ = v;
    std::span<const ObjectId> targets = edges_.of(object);
    at_ = targets.data();
    end_ = at_ + targets.size();
    for (i64 i = 0; i < std::min<i64>(ahead, end_ - at_); ++i)
      if (!met_.test(at_[i]))
        edges_.prefetch(static_cast<u32>(at_[i]));
    return v;
  }
  u32 descend(u32 v) {
    u64 cursor = static_cast<u64>(at_ - edges_.targets.data());
    u64 left = static_cast<u64>(end_ - at_);
    Vertex &vertex = out_.vertex[v];
    vertex.parent = static_cast<u32>(cursor);
    vertex.semi = static_cast<u32>(cursor >> 32) | (is_link_ ? link_flag : 0);
    vertex.dominator = static_cast<u32>(std::min<u64>(left, many));
    if (at_ != end_ && !met_.test(*at_)) { // true once everything below the array is done
      edges_.prefetch_targets(static_cast<u32>(*at_));
      __builtin_prefetch(&out_.number[static_cast<u32>(*at_)], 1);
    }
    return enter(found_, v);
  }
  u32 leave(u32 v) {
    u32 parent = out_.vertex[v].ancestor;
    out_.vertex[v] = {parent, 0, parent, 0};
    const Vertex &up = out_.vertex[parent];
    is_link_ = up.semi & link_flag;
    fans_out_ = parent == fanning_;
    u64 cursor = up.parent | u64{up.semi & ~link_flag} << 32;
    at_ = edges_.targets.data() + cursor;
    end_ =
        up.dominator == many ? edges_.targets.data() + edges_.begin(u64{out_.object[parent]} + 1) : at_ + up.dominator;
    return parent;
  }

  static constexpr u32 many = ~u32{0}, link_flag = u32{1} << 31; // the cursor is far below 2^63
  static constexpr i64 ahead = 8;
  const Edges &edges_;
  const ObjectBits *const links_;
  const FannedOut &fanned_out_;
  DepthFirst &out_;
  const Watch &watch_;
  ObjectBits met_;
  std::unordered_map<u32, bool> held_;            // true: it was settled or reached before
  const ObjectId *at_ = nullptr, *end_ = nullptr; // references of the current vertex still to follow
  bool is_link_ = false, fans_out_ = false;       // of the current vertex
  u32 fanning_ = ~u32{0};                         // the vertex that fans out
  ObjectId found_ = no_object;
  u64 steps_ = 0;
};

} // namespace

RootsByOwner::RootsByOwner(const Owners &owners, u64 object_count) : first(u64{owners.count} + 1), objects() {
  auto sound = [&](const OwnedRoot &root) {
    return static_cast<u32>(root.owner) < owners.count && static_cast<u32>(root.object) < object_count;
  };
  for (std::span<const OwnedRoot> some : {owners.roots, owners.hubs})
    for (const OwnedRoot &root : some)
      if (sound(root))
        ++first[static_cast<u32>(root.owner) + 1];
  for (u64 i = 1; i < first.size(); ++i)
    first[i] += first[i - 1];
  objects.resize(first.back());
  std::vector<u64> next(first.begin(), first.end() - 1);
  for (std::span<const OwnedRoot> some : {owners.roots, owners.hubs})
    for (const OwnedRoot &root : some)
      if (sound(root))
        objects[next[static_cast<u32>(root.owner)]++] = root.object;
}

DepthFirst::DepthFirst(const Edges &edges, const Owners &owners, const RootsByOwner &roots, unsigned threads,
                       const Watch &watch) {
  u64 objects = edges.objects();
  u64 most = objects + owners.count + 1;
  if (most > most_objects)
    throw Error("there are more than 4 billion objects and roots: the dominator tree can number no more");
  left_out = ObjectBits(objects);
  u64 leaves = 0;
  {
    Timer timer(watch, "single references");
    leaves = find_left_out(edges, roots, threads, watch, left_out);
  }
  fanned_out = find_fanned_out(edges, owners, roots, left_out, threads, watch);
  settled = ObjectBits(objects);
  for (u64 i = 0; i < settled.words().size(); ++i)
    settled.words()[i] = left_out.words()[i] | (fanned_out.from != no_object ? fanned_out.objects.words()[i] : 0);
  leaves += fanned_out.closed_count;
  Timer timer(watch, "depth-first search");
  number = LargeArray<u32>(objects);
  object = LargeArray<u32>(most - leaves);
  vertex = LargeArray<Vertex>(most - leaves);
  Search search(edges, owners.links, *this, watch);
  search.add(static_cast<u32>(most - 1), 0);
  for (const OwnedRoot &hub : owners.hubs)
    if (static_cast<u32>(hub.owner) < owners.count && static_cast<u32>(hub.object) < objects)
      search.hold_back(hub.object);
  const std::span<const u32> ranks = owners.ranks.empty() ? std::span(&owners.precise, 1) : owners.ranks;
  auto rank = ranks.begin();
  for (u32 owner = 0; owner < owners.count; ++owner) {
    for (; rank != ranks.end() && *rank <= owner; ++rank)
      rank_ends.push_back(vertices);
    u32 v = search.add(static_cast<u32>(objects + owner), 0);
    for (const OwnedRoot &hub : owners.hubs)
      if (static_cast<u32>(hub.owner) == owner && static_cast<u32>(hub.object) < objects)
        search.let_through(hub.object);
    for (ObjectId root : roots.of(owner))
      search.run(root, v);
  }
  rank_ends.push_back(vertices);
}

} // namespace dnheap
