// Compression of what is written, and decompression of whole dumps: zstd and gzip, told by their first bytes, not by
// the name; into memory where the contents take no more than a quarter of what is left, else into a temporary file.
// Besides, memory stays below about 140 MiB (the largest zstd window accepted, or as much for the windows of all
// threads together), whatever the file says. For dump/open.cc and snapshot/extract.cc.
#pragma once
#include "base/host/host.h"
#include "base/watch.h"

#include <functional>
#include <memory>
#include <optional>

namespace dnheap {

// Hands what it is given on as one zstd frame with a checksum.
class Compressor {
public:
  explicit Compressor(std::function<void(Bytes)> to);
  ~Compressor();

  void write(Bytes bytes);
  void finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Decompressed {
  std::shared_ptr<const MappedFile> file;
  std::string note;     // empty, or why this is only the first part, or may be wrong
  bool damaged = false; // not only cut off: any of it may be wrong
};

bool is_compressed(Bytes file);

struct DecompressionLimits {
  std::optional<u64> most_in_memory = {}; // bytes; nothing: a part of what is left
  // How long a dump is that begins with these bytes (the first MiB, or all), by its own headers: 0 where none begins
  // so, ~0 where they do not say. A quarter more, and 64 MiB at least, is decompressed; that more follows is a note.
  std::function<u64(Bytes)> length_of = {};
};

// `file` must be compressed. Several frames or members are one after the other, as the tools do it; zstd's are
// decompressed by all threads, but for large ones that do not say how long their contents are (pzstd's are small). A
// file that is cut off or damaged gives what could be had of it (all, where nothing but a checksum is wrong) and a
// note, or throws Error when that is nothing. Progress counts compressed bytes. `temp_dir`: always into a file there.
Decompressed decompress(Bytes file, const std::string &temp_dir, unsigned threads, const Watch &watch,
                        const DecompressionLimits &limits = {});

} // namespace dnheap
