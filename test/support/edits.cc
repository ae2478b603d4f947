#include "support/edits.h"

#include <algorithm>

namespace dnheap::test {

void Edits::apply(const Range &piece, Format format, std::vector<Range> &out,
                  std::vector<std::shared_ptr<const void>> &storage) const {
  const Address start = piece.address, end = piece.end();
  std::vector<std::byte> bytes(piece.bytes.begin(), piece.bytes.end());
  for (const Poke &poke : pokes)
    for (u64 i = 0; i < poke.size; ++i)
      if (Address at = poke.at + i; at >= start && at < end)
        bytes[at - start] =
            static_cast<std::byte>(poke.value >> 8 * (format.byte_order == ByteOrder::little ? i : poke.size - 1 - i));
  std::vector<Address> edges = cuts;
  for (auto [from, to] : holes)
    edges.insert(edges.end(), {from, to});
  edges.insert(edges.end(), {start, end});
  std::erase_if(edges, [&](Address at) { return at < start || at > end; });
  std::sort(edges.begin(), edges.end());
  for (u64 i = 0; i + 1 < edges.size(); ++i) {
    auto missing = [&](const auto &hole) { return edges[i] >= hole.first && edges[i] < hole.second; };
    if (edges[i] == edges[i + 1] || std::any_of(holes.begin(), holes.end(), missing))
      continue;
    auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin() + static_cast<i64>(edges[i] - start),
                                                         bytes.begin() + static_cast<i64>(edges[i + 1] - start));
    out.push_back({edges[i], *copy});
    storage.push_back(copy);
  }
}

} // namespace dnheap::test
