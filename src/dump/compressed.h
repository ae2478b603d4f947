// Decompression of whole dumps: zstd, gzip, xz and lz4 (frames), recognised by their first bytes, not by the name.
// Contents that take no more than a quarter of the free memory go into memory, larger ones into a temporary file. Apart
// from the contents, decompression takes at most about 150 MiB (the largest zstd window or xz dictionary accepted, or
// as much for those of all threads together), whatever the file claims. For dump/open.cc.
#pragma once
#include "base/host/host.h"
#include "base/watch.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace dnheap {

struct Decompressed {
  std::shared_ptr<const MappedFile> file;
  std::string note;     // empty, or why this is only the first part, or may be wrong
  bool damaged = false; // true: any part may be wrong; false if it is only cut off
};

bool is_compressed(Bytes file);
// Returns the first bytes of a compressed file's contents, at most `most`; fewer, perhaps none, if it is damaged.
std::vector<std::byte> first_decompressed(Bytes file, u64 most);

struct DecompressionLimits {
  std::optional<u64> most_in_memory = {}; // bytes; nullopt: a share of the free memory
  // Returns the length of the dump that begins with these bytes (the first MiB, or all), from its own headers: 0 if
  // this is not a dump, ~0 if unknown. Decompression stops after a quarter more than that, but at least 64 MiB more,
  // with a note that more follows.
  std::function<u64(Bytes)> length_of = {};
};

// `file` must be compressed. It may have several frames or members one after the other, as the tools write them. All
// threads decompress zstd frames, except large ones that do not state their content's size (pzstd's are small), and the
// blocks of xz streams that have several. From a file that is cut off or damaged it returns the readable part
// (everything, if only a checksum is wrong, except that of an lz4 block) and a note; it throws Error if nothing is
// readable. Progress counts compressed bytes. `temp_dir`: if given, always decompresses into
// a file there.
Decompressed decompress(Bytes file, const std::string &temp_dir, unsigned threads, const Watch &watch,
                        const DecompressionLimits &limits = {});

} // namespace dnheap
