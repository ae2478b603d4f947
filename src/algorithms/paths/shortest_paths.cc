#include "algorithms/paths/shortest_paths.h"

#include "base/count_bits.h"
#include "base/parallel.h"

#include <algorithm>
#include <array>

namespace dnheap {
namespace {

constexpr u64 word_part = 64; // words of bits handed out to a thread at once

} // namespace

// From some 1/2048 of all objects on, a pass over the bits of all objects costs less than one thread with a list.
ShortestPaths::ShortestPaths(const Edges &edges, unsigned threads, const Watch &watch, const HeldDirectly *direct)
    : edges_(edges), threads_(std::max(threads, 1u)), watch_(watch), large_(std::max<u64>(edges.objects() / 2048, 8)),
      from_(edges.objects(), direct), closed_(edges.objects()) {}

void ShortestPaths::leave_out_met(const ShortestPaths &other) {
  const std::span<const u64> theirs = other.closed_.words();
  for (u64 i = 0; i < std::min(closed_.words().size(), theirs.size()); ++i)
    closed_.words()[i] |= theirs[i];
}

void ShortestPaths::begin(std::span<const OwnedRoot> roots, Level &level) {
  for (const OwnedRoot &root : roots) {
    u64 object = static_cast<u32>(root.object), from = 1 + edges_.objects() + static_cast<u32>(root.owner);
    if (from > ~u32{0})
      throw Error("there are more than 4 billion objects and roots: the search for paths can number no more");
    if (object < edges_.objects() && !closed_.test(object)) {
      const FoundFrom::Meeting meeting{static_cast<u32>(object), static_cast<u32>(from)};
      from_.put({&meeting, 1}, true, [&](u32 first) { level.list.push_back(first); });
    }
  }
  close(level);
}

// Finishes the level: from now on no other object takes one of its objects as its next step.
void ShortestPaths::close(Level &level) {
  from_.end_level();
  const u64 found_before = found_.size();
  if (!level.is_large) {
    level.count = level.list.size();
    for (u32 object : level.list) {
      closed_.set(object);
      if (wanted_ && wanted_->test(object))
        found_.push_back(ObjectId{object});
    }
    std::sort(found_.begin() + static_cast<i64>(found_before), found_.end());
    return;
  }
  LargeArray<u64> &words = level.bits.words();
  std::atomic<u64> count = 0;
  parallel_for_parts(words.size(), 256 * word_part, threads_, [&](u64 begin, u64 end, unsigned) {
    u64 bits = 0;
    for (u64 i = begin; i < end; ++i)
      closed_.words()[i] |= words[i], bits += count_bits(words[i]);
    count += bits;
  });
  level.count = count;
  const bool is_large = level.count >= large_;
  for (u64 i = 0; (wanted_ || !is_large) && i < words.size(); ++i) {
    for_each_bit(words[i], [&](u64 bit) {
      const u32 object = static_cast<u32>(i * 64 + bit);
      if (wanted_ && wanted_->test(object))
        found_.push_back(ObjectId{object});
      if (!is_large)
        level.list.push_back(object);
    });
    if (!is_large)
      words[i] = 0;
  }
  level.is_large = is_large;
}

template <class Meet> void ShortestPaths::expand_some(std::span<const u32> objects, bool alone, Meet meet) {
  std::array<FoundFrom::Meeting, FoundFrom::most_at_once> meetings; // wait for the prefetch of what they write to
  u64 waiting = 0;
  auto hold = [&] {
    from_.put(std::span(meetings).first(waiting), alone, meet);
    waiting = 0;
  };
  edges_.for_each_of(objects, [&](u32 object, std::span<const ObjectId> targets) {
    const bool linked = linked_ && linked_->test(object);
    for (ObjectId target : targets) {
      if (closed_.test(target) || (linked && linked_->test(target)))
        continue;
      from_.prefetch(static_cast<u32>(target));
      meetings[waiting++] = {static_cast<u32>(target), object + 1};
      if (waiting == meetings.size())
        hold();
    }
  });
  hold();
}

// Empties the level. Writes the next one as bits if it may become large.
void ShortestPaths::expand(Level &level, Level &next) {
  u64 edges = level.is_large ? large_ : 0;
  for (u64 i = 0; i < level.list.size() && edges < large_; ++i)
    edges += edges_.of(ObjectId{level.list[i]}).size();
  next.is_large = edges >= large_;
  if (next.is_large && next.bits.words().size() == 0)
    next.bits = ObjectBits(edges_.objects());
  if (!level.is_large) {
    if (next.is_large)
      expand_some(level.list, true, [&](u32 object) { next.bits.set(object); });
    else
      expand_some(level.list, true, [&](u32 object) { next.list.push_back(object); });
    level.list.clear();
    return;
  }
  const bool alone = threads_ == 1;
  LargeArray<u64> &words = level.bits.words();
  parallel_for_parts(words.size(), word_part, threads_, [&](u64 begin, u64 end, unsigned) {
    std::array<u32, 64 * word_part> objects;
    u64 count = 0;
    for (u64 i = begin; i < end; ++i) {
      for_each_bit(words[i], [&](u64 bit) { objects[count++] = static_cast<u32>(i * 64 + bit); });
      words[i] = 0;
    }
    expand_some(std::span(objects).first(count), alone, [&](u32 object) { next.bits.claim(object); });
  });
  level.is_large = false;
}

void ShortestPaths::grow(std::span<const OwnedRoot> roots, ObjectId until) {
  Timer timer(watch_, "breadth-first search");
  found_.clear();
  Level level, next;
  begin(roots, level);
  for (u64 levels = 0; level.count > 0; ++levels) {
    if (level.is_large || levels % 0x1000 == 0)
      watch_.check();
    if (until != no_object && met(until))
      return;
    expand(level, next);
    std::swap(level, next);
    close(level);
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
