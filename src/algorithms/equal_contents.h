// EqualContents: which of many contents (of strings, of arrays) are equal, told by their hashes of 128 bits; no content
// is kept. 24 bytes for each while they are collected, by one Writer per thread; then 8 for each that has an equal, and
// 40 per group. The result does not depend on the number of threads.
//
// Equal hashes are taken for equal contents. Of 2³² different contents, more than a heap can number, the chance that
// any two share 128 bits is 2⁻⁶⁵: less than that of a wrong bit in memory. XXH3 is no cryptographic hash: who writes a
// dump by hand could make two contents look equal, and would be told wrong figures of his own dump, and nothing worse.
#pragma once
#include "base/chunks.h"
#include "base/watch.h"

#include <memory>
#include <span>
#include <vector>

namespace dnheap {

struct ContentHash {
  u64 high = 0, low = 0;
  auto operator<=>(const ContentHash &) const = default;
};

// Of any bytes.
ContentHash content_hash(std::span<const std::byte> content, u64 seed = 0);

// Contents that are equal, two or more: `count` tags from `first` on.
struct EqualGroup {
  ContentHash hash;
  u64 first = 0, count = 0;
};

struct EqualGroups {
  std::vector<EqualGroup> groups; // by hash
  std::vector<u64> tags;          // within a group ascending
};

class EqualContents {
  struct Entry {
    ContentHash hash;
    u64 tag;
    auto operator<=>(const Entry &) const = default;
  };

public:
  // `expected`: about how many will come.
  EqualContents(u64 expected, unsigned threads);

  // One thread's.
  class Writer {
  public:
    void add(const ContentHash &hash, u64 tag) {
      buckets_[shift_ < 64 ? hash.high >> shift_ : 0].push_back({hash, tag});
    }

  private:
    friend class EqualContents;
    std::vector<Chunks<Entry>> buckets_;
    unsigned shift_ = 64;
  };
  Writer &writer(unsigned thread) { return writers_[thread]; }

  // Once. What was collected is gone then. Throws Interrupted.
  EqualGroups take_groups(unsigned threads, const Watch &watch);
  // The same in parts, one behind the other, for who goes on with all threads: each group is whole within its part.
  std::vector<EqualGroups> take_parts(unsigned threads, const Watch &watch);

private:
  std::vector<Writer> writers_;
  u64 buckets_;
};

} // namespace dnheap
