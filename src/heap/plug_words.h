// PlugWords: the words that a planning collection writes before each group of adjacent survivors (a plug), over dead
// objects. They are the length of the dead stretch before the group, how far the group will move, and its place in a
// tree of plugs. See plug_and_gap in gcpriv.h. Four words, the last of which is the header of the plug's first object.
#pragma once
#include "base/bytes.h"

namespace dnheap {

struct PlugWords {
  u64 gap = 0, reloc = 0;  // the lowest two bits of `reloc` are flags
  u16 left = 0, right = 0; // distances to others in the same brick, backward and forward

  static constexpr u64 words = 4;
  // Reads the words at `bytes`.
  static PlugWords read(const std::byte *bytes, Format format) {
    const u64 p = format.pointer_size;
    return {load_pointer(bytes, format), load_pointer(bytes + p, format), load<u16>(bytes + 2 * p, format.byte_order),
            load<u16>(bytes + 2 * p + 2, format.byte_order)};
  }
  // True if a collection may have written them for a dead stretch of at least `shortest` bytes. A pointer is no
  // distance.
  bool are_sound(u64 shortest, Format format) const {
    constexpr u64 brick = 4096, farthest = u64{1} << 40;
    const u64 p = format.pointer_size;
    const bool is_distance = p == 4 || reloc + farthest < 2 * farthest;
    const bool is_in_tree = static_cast<u16>(-left) < brick && right < brick;
    return gap >= shortest && gap % p == 0 && (reloc & (p - 1) & ~u64{3}) == 0 && is_distance && is_in_tree;
  }
};

} // namespace dnheap
