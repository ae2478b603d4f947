// Chained fixups of a Mach-O file (LC_DYLD_CHAINED_FIXUPS): the words of its writable segments that the loader changes,
// each of which says where the next one lies. Pure parsing of bytes, linear in them; for image/macho_file.cc.
#pragma once
#include "base/bytes.h"

#include <vector>

namespace dnheap {

// Where the image lies: `base` is its header's address, `bias` what is added to addresses in the file.
struct MachoPlace {
  Address base = 0;
  u64 bias = 0;
};

// Changes the words of the segment with that index, whose bytes in the file `copy` has, to what they are in memory, and
// adds the offsets of those that need another module's symbols to `unknown`. Returns false if the fixups cannot be
// read: then no word of the copy can be trusted.
bool apply_chained_fixups(Bytes fixups, u64 segment, MachoPlace place, std::span<std::byte> copy,
                          std::vector<u64> &unknown);

} // namespace dnheap
