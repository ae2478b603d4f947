// EqualContents: finds equal contents (of strings, of arrays) by their 128-bit hashes, without keeping the contents.
// Costs 24 bytes per content while they are collected, by one Writer per thread; afterwards 8 bytes for each that has
// an equal, and 40 per group. The result does not depend on the number of threads.
//
// Equal hashes are taken for equal contents. For 2³² different contents, more than a heap can have, the chance that any
// two share 128 bits is 2⁻⁶⁵: less than that of a wrong bit in memory. XXH3 is no cryptographic hash: whoever forges a
// dump could make two contents look equal, which would only make the figures of that dump wrong.
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

// Hashes any bytes.
ContentHash content_hash(std::span<const std::byte> content, u64 seed = 0);

// Two or more equal contents. Their tags are tags[first] up to tags[first + count].
struct EqualGroup {
  ContentHash hash;
  u64 first = 0, count = 0;
};

struct EqualGroups {
  std::vector<EqualGroup> groups; // by hash
  std::vector<u64> tags;          // ascending within a group
};

class EqualContents {
  struct Entry {
    ContentHash hash;
    u64 tag;
    auto operator<=>(const Entry &) const = default;
  };

public:
  // `expected` is a rough number of contents.
  EqualContents(u64 expected, unsigned threads);

  // Each thread has its own.
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

  // May be called once; the collected hashes are gone afterwards. Throws Interrupted.
  EqualGroups take_groups(unsigned threads, const Watch &watch);
  // Returns the same in several parts, for callers that go on with all threads. A group is never split between parts.
  std::vector<EqualGroups> take_parts(unsigned threads, const Watch &watch);

private:
  std::vector<Writer> writers_;
  u64 buckets_;
};

} // namespace dnheap
