#include "algorithms/equal_contents.h"

#include "base/parallel.h"

#include <algorithm>
#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dnheap {

namespace {

constexpr u64 entries_per_bucket = 16384; // what is sorted at once fits a processor's cache
constexpr unsigned most_bucket_bits = 8;

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

EqualGroups EqualContents::take_groups(unsigned threads, const Watch &watch) {
  std::vector<EqualGroups> found(buckets_);
  std::vector<std::vector<Entry>> buffers(std::max(threads, 1u));
  parallel_for(buckets_, threads, [&](u64 bucket, unsigned worker) {
    watch.check();
    std::vector<Entry> &entries = buffers[worker];
    entries.clear();
    for (Writer &writer : writers_) {
      for (const Chunk &chunk : writer.buckets_[bucket])
        entries.insert(entries.end(), chunk.begin(), chunk.end());
      writer.buckets_[bucket] = {};
    }
    std::sort(entries.begin(), entries.end());
    EqualGroups &to = found[bucket];
    for (u64 i = 0, end = 0; i < entries.size(); i = end) {
      for (end = i + 1; end < entries.size() && entries[end].hash == entries[i].hash;)
        ++end;
      if (end - i < 2)
        continue;
      to.groups.push_back({entries[i].hash, to.tags.size(), end - i});
      for (u64 k = i; k < end; ++k)
        to.tags.push_back(entries[k].tag);
    }
  });
  buffers.clear();
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
