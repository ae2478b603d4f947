// Compressed files for tests.
#pragma once
#include <string>
#include <zstd.h>

namespace dnheap::test {

inline std::string zstd(const std::string &text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

// `count` frames of 64 MiB each: a small file that takes long, and much room, to decompress.
inline std::string compressed_zeros(int count) {
  std::string frame = zstd(std::string(64 << 20, '\0')), out;
  for (int i = 0; i < count; ++i)
    out += frame;
  return out;
}

} // namespace dnheap::test
