// Where zstd frames end (RFC 8878), told by their headers and those of their blocks alone: so that several can be
// decompressed at once, each into its place. Looks at 3 bytes of each block. Any thread.
#pragma once
#include "base/bytes.h"

#include <vector>

namespace dnheap {

struct ZstdFrame {
  Bytes bytes;
  u64 content = 0; // bytes when decompressed: what the header says, which its blocks can hold at most; else the frame
                   // is damaged
  u64 window = 0;  // bytes needed to decompress it
};

// The frames at the front of `file`, which begin and end within its first `reach` bytes and tell how long their
// contents are. The first one that does not ends the list.
std::vector<ZstdFrame> find_zstd_frames(Bytes file, u64 reach);

} // namespace dnheap
