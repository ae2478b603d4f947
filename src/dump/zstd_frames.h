// Finds the ends of zstd frames (RFC 8878) from their headers and block headers alone, so that several frames can be
// decompressed at once, each to its place. Looks at 3 bytes of each block. Any thread.
#pragma once
#include "base/bytes.h"

#include <optional>
#include <vector>

namespace dnheap {

struct ZstdFrame {
  Bytes bytes;
  std::optional<u64> content; // decompressed bytes, if the header says so; more than `most` means that the
                              // frame is damaged
  u64 most = 0;               // bytes that its blocks can hold
  u64 window = 0;             // bytes needed to decompress it
};

// Returns the frames at the front of `file` that begin and end within its first `reach` bytes. The list ends before the
// first frame that does not, or is damaged.
std::vector<ZstdFrame> find_zstd_frames(Bytes file, u64 reach);

} // namespace dnheap
