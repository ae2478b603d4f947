#include "target/read_record.h"

#include <algorithm>

namespace dnheap {

void ReadRecord::add(Address address, u64 size, bool words) {
  if (size == 0)
    return;
  const Address last = size - 1 > ~u64{0} - address ? ~u64{0} : address + (size - 1);
  for (u64 page = address / page_size;; ++page) {
    const Address start = page * page_size;
    u64 from = (std::max(address, start) - start) / word_size;
    u64 to = (std::min(last, start + (page_size - 1)) - start) / word_size;
    Shard &shard = shards_[page % shards_.size()];
    {
      std::lock_guard lock(shard.mutex);
      Page &of = shard.pages[page];
      of.address = start;
      for (; words && from <= to; ++from)
        if (from % 64 == 0 && to - from >= 63) {
          of.words[from / 64] = ~u64{0};
          from += 63;
        } else {
          of.words[from / 64] |= u64{1} << from % 64;
        }
    }
    if (page == last / page_size)
      return;
  }
}

std::vector<ReadRecord::Page> ReadRecord::pages() const {
  std::vector<Page> out;
  for (const Shard &shard : shards_)
    for (const auto &[number, page] : shard.pages)
      out.push_back(page);
  std::sort(out.begin(), out.end(), [](const Page &a, const Page &b) { return a.address < b.address; });
  return out;
}

} // namespace dnheap
