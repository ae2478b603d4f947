// ReadRecord: records which words of a target's memory were read, so that everything answers depend on can be kept and
// the rest left out (snapshot/extract.h). A Memory with a record stores every read in it, some 50 ns each; a Memory
// without one only tests a pointer per look-up. add() may be called from any number of threads, pages() once all are
// done.
#pragma once
#include "base/bytes.h"

#include <array>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace dnheap {

class ReadRecord {
public:
  static constexpr u64 page_size = 4096, word_size = 8;

  struct Page {
    Address address = 0;
    std::array<u64, page_size / word_size / 64> words{}; // one bit each
    bool has(u64 word) const { return words[word / 64] >> word % 64 & 1; }
  };

  void add(Address address, u64 size) { add(address, size, true); }
  // Adds the pages only, without words.
  void add_place(Address address, u64 size) { add(address, size, false); }
  // Returns the pages by address.
  std::vector<Page> pages() const;

private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<u64, Page> pages;
  };
  void add(Address address, u64 size, bool words);

  std::array<Shard, 16> shards_;
};

} // namespace dnheap
