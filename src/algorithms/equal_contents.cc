#include "algorithms/equal_contents.h"

#include "base/parallel.h"

#include <algorithm>
#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dnheap {

namespace {

constexpr u64 entries_per_bucket = 16384; // makes a bucket fit a processor's cache while it is sorted
constexpr unsigned most_bucket_bits = 8;

// Assigns each entry of one bucket to a group, in the order of arrival.
class BucketGroups {
public:
  explicit BucketGroups(u64 entries) : slots_(std::bit_ceil(2 * entries + 1)) {}

  u32 add(const ContentHash &hash) {
    u64 slot = hash.low & (slots_.size() - 1);
    for (; slots_[slot]; slot = (slot + 1) & (slots_.size() - 1))
      if (EqualGroup &group = groups[slots_[slot] - 1]; group.hash == hash) {
        ++group.count;
        return slots_[slot] - 1;
      }
    groups.push_back({hash, 0, 1});
    slots_[slot] = static_cast<u32>(groups.size());
    return slots_[slot] - 1;
  }

  std::vector<EqualGroup> groups; // in the order of first arrival

private:
  std::vector<u32> slots_; // index of a group + 1
};

// Returns the tags in order of arrival, group by group. A group's tags are mostly ascending, as each thread goes
// through places in order.
EqualGroups sorted_groups(std::vector<EqualGroup> groups, std::span<const u32> group_of, std::span<const u64> tags) {
  std::vector<u32> order;
  for (u32 i = 0; i < groups.size(); ++i)
    if (groups[i].count > 1)
      order.push_back(i);
  std::sort(order.begin(), order.end(), [&](u32 a, u32 b) { return groups[a].hash < groups[b].hash; });
  EqualGroups out;
  u64 first = 0;
  for (u32 i : order) {
    groups[i].first = first;
    out.groups.push_back(groups[i]);
    first += groups[i].count;
  }
  out.tags.resize(first);
  for (u64 i = 0; i < tags.size(); ++i)
    if (EqualGroup &group = groups[group_of[i]]; group.count > 1)
      out.tags[group.first++] = tags[i];
  for (const EqualGroup &group : out.groups) {
    const auto begin = out.tags.begin() + static_cast<i64>(group.first), end = begin + static_cast<i64>(group.count);
    for (auto sorted = std::is_sorted_until(begin, end); sorted != end; sorted = std::is_sorted_until(sorted, end))
      std::inplace_merge(begin, sorted, std::is_sorted_until(sorted, end));
  }
  return out;
}

} // namespace

ContentHash content_hash(std::span<const std::byte> content, u64 seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(content.data(), content.size(), seed);
  return {hash.high64, hash.low64};
}

EqualContents::EqualContents(u64 expected, unsigned threads) : writers_(std::max(threads, 1u)) {
  const unsigned bits =
      std::min(static_cast<unsigned>(std::bit_width(expected / entries_per_bucket)), most_bucket_bits);
  buckets_ = u64{1} << bits;
  for (Writer &writer : writers_) {
    writer.buckets_.resize(buckets_);
    writer.shift_ = 64 - bits;
  }
}

std::vector<EqualGroups> EqualContents::take_parts(unsigned threads, const Watch &watch) {
  std::vector<EqualGroups> found(buckets_);
  parallel_for(buckets_, threads, [&](u64 bucket, unsigned) {
    watch.check();
    u64 entries = 0;
    for (const Writer &writer : writers_)
      entries += writer.buckets_[bucket].size();
    BucketGroups groups(entries);
    std::vector<u32> group_of;
    std::vector<u64> tags;
    group_of.reserve(entries);
    tags.reserve(entries);
    for (Writer &writer : writers_) {
      writer.buckets_[bucket].for_each([&](const Entry &entry) {
        group_of.push_back(groups.add(entry.hash));
        tags.push_back(entry.tag);
      });
      writer.buckets_[bucket].clear();
    }
    found[bucket] = sorted_groups(std::move(groups.groups), group_of, tags);
  });
  return found;
}

EqualGroups EqualContents::take_groups(unsigned threads, const Watch &watch) {
  std::vector<EqualGroups> found = take_parts(threads, watch);
  EqualGroups out;
  u64 groups = 0, tags = 0;
  for (const EqualGroups &part : found)
    groups += part.groups.size(), tags += part.tags.size();
  out.groups.reserve(groups);
  out.tags.reserve(tags);
  for (EqualGroups &part : found) {
    for (EqualGroup group : part.groups) {
      group.first += out.tags.size();
      out.groups.push_back(group);
    }
    out.tags.insert(out.tags.end(), part.tags.begin(), part.tags.end());
    part = {};
  }
  return out;
}

} // namespace dnheap
