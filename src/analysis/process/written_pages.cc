#include "analysis/process/written_pages.h"

#include "base/parallel.h"

#include <algorithm>
#include <cstring>

namespace dnheap {

namespace {

using Stretches = std::vector<std::pair<Address, Address>>;

constexpr u64 page_bytes = 4096;
constexpr u64 pages_per_part = 4096; // taken by a thread at once

bool is_written(Bytes page) {
  const std::byte *at = page.data(), *const end = at + page.size();
  for (; end - at >= 8; at += 8) {
    u64 word;
    std::memcpy(&word, at, 8);
    if (word)
      return true;
  }
  return std::any_of(at, end, [](std::byte b) { return b != std::byte{}; });
}

void add(Stretches &to, Address start, Address end) {
  if (!to.empty() && to.back().second == start)
    to.back().second = end;
  else
    to.emplace_back(start, end);
}

struct Part {
  Address start = 0;
  Bytes bytes;
};

} // namespace

Stretches written_pages(const Memory &memory, std::span<const std::pair<Address, Address>> among, unsigned threads) {
  std::vector<Part> parts;
  for (const auto &[start, end] : among)
    for (Address at = start; at < end;) {
      const Range *range = memory.find(at);
      if (!range) { // skip to the next known range
        const auto next = std::upper_bound(memory.ranges().begin(), memory.ranges().end(), at,
                                           [](Address a, const Range &r) { return a < r.address; });
        if (next == memory.ranges().end())
          break;
        at = next->address;
        continue;
      }
      const u64 into = at - range->address; // works with sizes, because the kernel's page lies at the end of the
                                            // address space
      const u64 size = std::min({end - at, range->bytes.size() - into, pages_per_part * page_bytes - at % page_bytes});
      parts.push_back({at, range->bytes.subspan(into, size)});
      at += size;
    }
  std::vector<Stretches> found(parts.size());
  parallel_for(parts.size(), threads, [&](u64 i, unsigned) {
    const Part &part = parts[i];
    for (u64 at = 0; at < part.bytes.size();) {
      const u64 size = std::min<u64>(page_bytes - (part.start + at) % page_bytes, part.bytes.size() - at);
      if (is_written(part.bytes.subspan(at, size)))
        add(found[i], part.start + at, part.start + at + size);
      at += size;
    }
  });
  Stretches out;
  for (const Stretches &of : found)
    for (const auto &[start, end] : of)
      add(out, start, end);
  return out;
}

} // namespace dnheap
