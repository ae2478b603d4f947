#include "algorithms/depth_first.h"

#include "base/error.h"
#include "base/parallel.h"

#include <array>
#include <atomic>
#include <unordered_map>

namespace dnheap {
namespace {

constexpr u64 chunk = u64{1} << 20;       // edges handed out to a thread at once
constexpr u32 ahead = 24;                 // prefetch distance
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

// The references that a search still has to follow, in blocks, as there may be hundreds of millions.
class OpenReferences {
public:
  struct Reference {
    u32 to;     // ObjectId; CoreTargets::in_list: the next ones of the vertex's long list
    u32 number; // in the core; CoreTargets::none for an object without references
    u32 from;   // DepthFirstNumber
  };

  OpenReferences() { blocks_.emplace_back(block_size), at_ = begin_ = blocks_.back().begin(); }
  bool empty() const { return at_ == begin_ && below_ == 0; }
  void push(const Reference &reference) {
    if (at_ == begin_ + block_size) [[unlikely]]
      go_to(++below_, 0);
    *at_++ = reference;
  }
  Reference pop() {
    if (at_ == begin_) [[unlikely]]
      go_to(--below_, block_size);
    return *--at_;
  }

private:
  static constexpr u64 block_size = u64{1} << 17; // 1.5 MiB

  void go_to(u64 block, u64 at) {
    if (block == blocks_.size())
      blocks_.emplace_back(block_size);
    if (block + 2 < blocks_.size()) // one empty block stays
      blocks_.pop_back();
    begin_ = blocks_[block].begin();
    at_ = begin_ + at;
  }

  std::vector<LargeArray<Reference>> blocks_;
  Reference *begin_, *at_; // of the top block
  u64 below_ = 0;          // full blocks
};

// References are looked at when they are taken back: of several to one object the last one that was put there wins, and
// they are put there in reverse. So the order is that of a search that goes down at each reference.
class Search {
public:
  Search(DepthFirst &out, const Watch &watch) : core_(out.core), out_(out), watch_(watch), met_(out.objects) {
    const bool any_closed = out.fanned_out.from != no_object;
    for (u64 i = 0; i < met_.words().size(); ++i)
      met_.words()[i] = out.left_out.words()[i] | (any_closed ? out.fanned_out.closed.words()[i] : 0);
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

  u32 add(u32 parent, const CoreTargets &targets) {
    u32 v = out_.vertices++;
    out_.vertex[v] = {parent, targets.target[0], targets.target[1], targets.target[2]};
    return v;
  }

  void run(ObjectId start, u32 owner) {
    Reference next{static_cast<u32>(start), core_.number(start), owner};
    for (;;) {
      if (++steps_ % 0x10000 == 0)
        watch_.check();
      if (next.to == CoreTargets::in_list)
        next = go_on(next.from);
      else if (next.to != CoreTargets::none && !met_.test(u64{next.to}))
        next = enter(next);
      else if (!open_.empty())
        next = open_.pop();
      else
        return;
    }
  }

private:
  using Reference = OpenReferences::Reference;
  static constexpr Reference nothing{CoreTargets::none, 0, 0};

  // These return the reference to follow next, before those that are open.
  Reference enter(const Reference &here) {
    if (here.number == CoreTargets::none) {
      enter_leaf(ObjectId{here.to}, here.from);
      return nothing;
    }
    met_.set(u64{here.to});
    CoreObject &object = core_[here.number];
    const u32 v = add(here.from, object.targets);
    object.met_as = v;
    return object.targets.is_list() ? go_on(v) : go_on(object.targets, v);
  }
  Reference go_on(const CoreTargets &targets, u32 from) {
    Reference out = nothing;
    u32 first = 0;
    while (first < 3 && out.to == CoreTargets::none)
      if (const u32 target = targets.target[first++]; target != CoreTargets::none)
        out = look_at(ObjectId{target}, from);
    for (u32 i = 3; i-- > first;)
      if (const u32 target = targets.target[i]; target != CoreTargets::none)
        open(ObjectId{target}, from);
    return out;
  }
  // Lists give out one reference at a time: most lead to what was met by the time when it is their turn.
  Reference go_on(u32 from) {
    Vertex &here = out_.vertex[from];
    if (here.targets().is_in_edges())
      return go_on_in_edges(from, here.targets());
    CoreTargets::List list = here.targets().list();
    const std::span<const ObjectId> references = core_.references(list);
    Reference out = nothing;
    while (list.at < list.length && out.to == CoreTargets::none)
      if (const ObjectId to = references[list.at++]; !met_.test(to) && core_.is_followed(to))
        out = look_at(to, from);
    if (list.at < list.length) {
      // Written out, since a call per reference shows in the time of the search.
      if (const ObjectId later = references[list.at]; !met_.test(later))
        if (const u32 number = core_.number(later); number != CoreTargets::none)
          core_.prefetch(number);
      here.semi = CoreTargets::of(list).target[1];
      open_.push({CoreTargets::in_list, 0, from});
    }
    return out;
  }
  Reference go_on_in_edges(u32 from, const CoreTargets &list) {
    std::array<ObjectId, CoreGraph::at_once> some;
    u32 count = 0;
    Reference out = nothing;
    auto take = [&](ObjectId to) {
      if (out.to == CoreTargets::none)
        out = look_at(to, from);
      else
        some[count++] = to;
    };
    if (core_.next_in_edges(list, take))
      open_.push({CoreTargets::in_list, 0, from});
    while (count > 0)
      open(some[--count], from);
    return out;
  }
  // Enters an object without references at once. Returns the reference if the object was not met and has some.
  Reference look_at(ObjectId to, u32 from) {
    if (met_.test(to))
      return nothing;
    const u32 number = core_.number(to);
    if (number == CoreTargets::none) {
      enter_leaf(to, from);
      return nothing;
    }
    core_.prefetch(number);
    return {static_cast<u32>(to), number, from};
  }
  void open(ObjectId to, u32 from) {
    if (met_.test(to))
      return;
    const u32 number = core_.number(to);
    if (number != CoreTargets::none)
      core_.prefetch(number);
    open_.push({static_cast<u32>(to), number, from});
  }
  void enter_leaf(ObjectId to, u32 from) {
    met_.set(to);
    out_.number[static_cast<u32>(to)] = add(from, {});
  }

  CoreGraph &core_;
  DepthFirst &out_;
  const Watch &watch_;
  ObjectBits met_;
  OpenReferences open_;
  std::unordered_map<u32, bool> held_; // true: it was met before
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
  objects = edges.objects();
  u64 most = objects + owners.count + 1;
  if (most > most_objects)
    throw Error("there are more than 4 billion objects and roots: the dominator tree can number no more");
  left_out = ObjectBits(objects);
  u64 no_vertices = 0;
  {
    Timer timer(watch, "single references");
    no_vertices = find_left_out(edges, roots, threads, watch, left_out);
  }
  fanned_out = find_fanned_out(edges, owners, roots, left_out, threads, watch);
  core = CoreGraph(edges, left_out, &fanned_out, owners.links, threads, watch);
  Timer timer(watch, "depth-first search");
  number = LargeArray<u32>(objects);
  vertex = LargeArray<Vertex>(most - no_vertices - fanned_out.closed_count);
  Search search(*this, watch);
  search.add(0, {}); // the virtual root
  for (const OwnedRoot &hub : owners.hubs)
    if (static_cast<u32>(hub.owner) < owners.count && static_cast<u32>(hub.object) < objects)
      search.hold_back(hub.object);
  const std::span<const u32> ranks = owners.ranks.empty() ? std::span(&owners.precise, 1) : owners.ranks;
  auto rank = ranks.begin();
  for (u32 owner = 0; owner < owners.count; ++owner) {
    for (; rank != ranks.end() && *rank <= owner; ++rank)
      rank_ends.push_back(vertices);
    u32 v = search.add(0, {});
    owner_vertices.push_back(v);
    for (const OwnedRoot &hub : owners.hubs)
      if (static_cast<u32>(hub.owner) == owner && static_cast<u32>(hub.object) < objects)
        search.let_through(hub.object);
    for (ObjectId root : roots.of(owner))
      search.run(root, v);
  }
  rank_ends.push_back(vertices);
  core.take_met_as(number, threads);
  if (fanned_out.from != no_object)
    fanning = number[static_cast<u32>(fanned_out.from)];
  least = LargeArray<u32>(vertices);
  parallel_for_parts(vertices, object_part, threads, [&](u64 begin, u64 end, unsigned) {
    for (u64 v = begin; v < end; ++v)
      least[v] = vertex[v].ancestor;
  });
}

void DepthFirst::find_objects(unsigned threads) {
  object = LargeArray<u32>(vertices);
  object[0] = static_cast<u32>(objects + owner_vertices.size());
  for (u64 i = 0; i < owner_vertices.size(); ++i)
    object[owner_vertices[i]] = static_cast<u32>(objects + i);
  parallel_for_parts(objects, object_part, threads, [&](u64 begin, u64 end, unsigned) {
    for (u64 i = begin; i < end; ++i) {
      if (i + ahead < objects)
        __builtin_prefetch(&object[number[i + ahead]], 1);
      if (const u32 v = number[i])
        object[v] = static_cast<u32>(i);
    }
  });
  core = {};
  number = {};
}

} // namespace dnheap
