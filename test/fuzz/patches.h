// Patches: a fuzzer's bytes as changes to a process that is sound otherwise, so that they reach what lies behind the
// first check. Four bytes say where, one how many, then come the bytes themselves. Where: anywhere in the piece, or,
// with the highest bit set, shortly behind one of the places that matter.
#pragma once
#include "support/opened.h"

#include <algorithm>

namespace dnheap::test {

struct Patched {
  Address address;
  std::vector<std::byte> bytes;
};

inline void apply_patches(Bytes patches, std::span<Patched> pieces, const std::vector<Address> &places) {
  u64 total = 0;
  for (const Patched &piece : pieces)
    total += piece.bytes.size();
  while (total && patches.size() > 5) {
    u32 where = load<u32>(patches.data(), ByteOrder::little);
    u64 count = std::min<u64>(static_cast<u8>(patches[4]) % 16 + 1u, patches.size() - 5);
    Bytes value = patches.subspan(5, count);
    patches = patches.subspan(5 + count);
    u64 offset = where % total;
    const bool aimed = where >> 31 && !places.empty();
    const Address place = aimed ? places[(where & 0xffffff) % places.size()] + (where >> 24 & 0x7f) : 0;
    for (Patched &piece : pieces) {
      u64 at = aimed ? place - piece.address : offset;
      if (at < piece.bytes.size()) {
        std::copy_n(value.begin(), std::min<u64>(value.size(), piece.bytes.size() - at),
                    piece.bytes.begin() + static_cast<i64>(at));
        break;
      }
      if (!aimed)
        offset -= piece.bytes.size();
    }
  }
}

// A process's memory, the parts that [start, end) of `which` cover copied and patched.
inline std::unique_ptr<Target> patched_target(const Target &from, const std::vector<std::pair<Address, Address>> &which,
                                              const std::vector<Address> &places, Bytes patches) {
  auto pieces = std::make_shared<std::vector<Patched>>();
  for (auto [start, end] : which) {
    Bytes known = from.memory.view_up_to(start, end - start);
    pieces->push_back({start, {known.begin(), known.end()}});
  }
  apply_patches(patches, *pieces, places);
  auto out = std::make_unique<Target>();
  out->path = "patched.core";
  out->container = from.container;
  out->os = from.os;
  out->architecture = from.architecture;
  out->modules = from.modules;
  out->threads = from.threads;
  std::vector<Range> ranges;
  for (const Patched &piece : *pieces)
    ranges.push_back({piece.address, piece.bytes});
  ranges.insert(ranges.end(), from.memory.ranges().begin(), from.memory.ranges().end());
  out->memory = Memory(from.format(), std::move(ranges));
  out->storage.push_back(pieces);
  return out;
}

} // namespace dnheap::test
