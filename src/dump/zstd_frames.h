// Where zstd frames end (RFC 8878), told by their headers and those of their blocks alone: so that several can be
// decompressed at once, each into its place. Looks at 3 bytes of each block. Any thread.
#pragma once
#include "base/bytes.h"

#include <optional>
#include <vector>

namespace dnheap {

struct ZstdFrame {
  Bytes bytes;
  std::optional<u64> content; // bytes when decompressed, where the header says so: no more than `most`, or else the
                              // frame is damaged
  u64 most = 0;               // bytes that its blocks can hold
  u64 window = 0;             // bytes needed to decompress it
};

// The frames at the front of `file`, which begin and end within its first `reach` bytes. The first one that does not,
// or is damaged, ends the list.
std::vector<ZstdFrame> find_zstd_frames(Bytes file, u64 reach);

} // namespace dnheap
