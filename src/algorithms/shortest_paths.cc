#include "algorithms/shortest_paths.h"

#include "base/parallel.h"

#include <algorithm>
#include <array>

namespace dnheap {
namespace {

constexpr u64 large_level = 8192; // objects of a level
constexpr u64 level_part = 2048;  // of them handed out at once

// The least value but 0 stays; true for the one caller who replaced 0.
bool lower(u32 &from, u32 value, bool alone) {
  if (alone) {
    u32 old = from;
    if (old == 0 || value < old)
      from = value;
    return old == 0;
  }
  std::atomic_ref<u32> shared(from);
  u32 old = shared.load(std::memory_order_relaxed);
  while (old == 0 || value < old)
    if (shared.compare_exchange_weak(old, value, std::memory_order_relaxed))
      return old == 0;
  return false;
}

} // namespace

ShortestPaths::ShortestPaths(const Edges &edges, unsigned threads, const Watch &watch)
    : edges_(edges), threads_(std::max(threads, 1u)), watch_(watch), from_(edges.objects()), closed_(edges.objects()) {}

u64 ShortestPaths::begin(std::span<const OwnedRoot> roots, Level &level) {
  for (const OwnedRoot &root : roots) {
    u64 object = static_cast<u32>(root.object), from = 1 + edges_.objects() + static_cast<u32>(root.owner);
    if (from > ~u32{0})
      throw Error("more than 4 billion objects and roots: paths number them with 32 bits");
    if (object < edges_.objects() && !closed_.test(object) && lower(from_[object], static_cast<u32>(from), true))
      level[0].push_back(static_cast<u32>(object));
  }
  return close(level);
}

// The level is complete: from now on no other object takes these as its next step. Returns how many there are.
u64 ShortestPaths::close(Level &level) {
  u64 count = 0, found_before = found_.size();
  for (const std::vector<u32> &part : level)
    count += part.size();
  parallel_for(level.size(), count < large_level ? 1 : threads_, [&](u64 i, unsigned) {
    for (u32 object : level[i])
      closed_.claim(object);
  });
  if (wanted_) {
    for (const std::vector<u32> &part : level)
      for (u32 object : part)
        if (wanted_->test(object))
          found_.push_back(ObjectId{object});
    std::sort(found_.begin() + static_cast<i64>(found_before), found_.end());
  }
  return count;
}

void ShortestPaths::expand(std::span<const u32> objects, std::vector<u32> &next, bool alone) {
  constexpr u64 ahead = 16;
  struct Meeting {
    u32 object, from;
  };
  std::array<Meeting, 64> meetings; // until what they write to has arrived
  u64 waiting = 0;
  auto hold = [&] {
    for (u64 i = 0; i < waiting; ++i)
      if (lower(from_[meetings[i].object], meetings[i].from, alone))
        next.push_back(meetings[i].object);
    waiting = 0;
  };
  for (u64 i = 0; i < objects.size(); ++i) {
    if (i + ahead < objects.size())
      edges_.prefetch(objects[i + ahead]);
    if (i + ahead / 2 < objects.size())
      __builtin_prefetch(edges_.targets.data() + edges_.begin(objects[i + ahead / 2]));
    const bool linked = linked_ && linked_->test(objects[i]);
    for (ObjectId target : edges_.of(ObjectId{objects[i]})) {
      if (closed_.test(target) || (linked && linked_->test(target)))
        continue;
      __builtin_prefetch(&from_[static_cast<u32>(target)], 1);
      meetings[waiting++] = {static_cast<u32>(target), objects[i] + 1};
      if (waiting == meetings.size())
        hold();
    }
  }
  hold();
}

void ShortestPaths::grow(std::span<const OwnedRoot> roots, ObjectId until) {
  Timer timer(watch_, "breadth-first search");
  found_.clear();
  Level level(threads_), next(threads_);
  u64 count = begin(roots, level);
  for (u64 levels = 0; count > 0; ++levels) {
    if (count > large_level || levels % 0x1000 == 0)
      watch_.check();
    if (until != no_object && met(until))
      return;
    for (std::vector<u32> &part : next)
      part.clear();
    bool alone = threads_ == 1 || count < large_level;
    for (const std::vector<u32> &part : level)
      parallel_for_parts(part.size(), level_part, alone ? 1 : threads_, [&](u64 begin, u64 end, unsigned worker) {
        expand(std::span(part).subspan(begin, end - begin), next[worker], alone);
      });
    level.swap(next);
    count = close(level);
  }
}

void ShortestPaths::grow(const Owners &owners, ObjectId until) {
  for (bool precise : {true, false}) {
    std::vector<OwnedRoot> roots;
    for (const OwnedRoot &root : owners.roots)
      if (static_cast<u32>(root.owner) < owners.count && (static_cast<u32>(root.owner) < owners.precise) == precise)
        roots.push_back(root);
    grow(roots, until);
    if (until != no_object && met(until))
      return;
  }
}

std::vector<ObjectId> ShortestPaths::path(ObjectId object) const {
  std::vector<ObjectId> out;
  if (!met(object))
    return out;
  for (std::optional<ObjectId> at = object; at; at = parent(*at))
    out.push_back(*at);
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<OwnedPath> paths_from_owners(const Edges &referrers, const Owners &owners, ObjectId object, u64 most,
                                         unsigned threads, const Watch &watch) {
  ObjectBits is_root(referrers.objects());
  std::vector<OwnedRoot> roots;
  for (const OwnedRoot &root : owners.roots)
    if (static_cast<u32>(root.object) < referrers.objects() && static_cast<u32>(root.owner) < owners.count) {
      is_root.set(root.object);
      roots.push_back(root);
    }
  auto less = [](const OwnedRoot &a, const OwnedRoot &b) {
    return std::pair(a.object, a.owner) < std::pair(b.object, b.owner);
  };
  std::sort(roots.begin(), roots.end(), less);

  ShortestPaths search(referrers, threads, watch);
  search.look_for(&is_root);
  OwnedRoot start{object, OwnerId{0}};
  search.grow({&start, 1});

  std::vector<OwnedPath> out;
  std::vector<bool> seen(owners.count);
  for (ObjectId found : search.found())
    for (auto at = std::lower_bound(roots.begin(), roots.end(), OwnedRoot{found, OwnerId{0}}, less);
         at != roots.end() && at->object == found && out.size() < most; ++at) {
      if (seen[static_cast<u32>(at->owner)])
        continue;
      seen[static_cast<u32>(at->owner)] = true;
      std::vector<ObjectId> path = search.path(found);
      out.push_back({at->owner, {path.rbegin(), path.rend()}});
    }
  return out;
}

} // namespace dnheap
