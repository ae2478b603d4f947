// Files compressed by xz, for tests.
#pragma once
#include <cstdint>
#include <lzma.h>
#include <string>

namespace dnheap::test {

struct XzOptions {
  std::uint32_t dictionary = 1 << 20;
  lzma_check check = LZMA_CHECK_CRC64;
};

// One stream. Each part becomes a block, without its size as from a pipe.
inline std::string xz(std::initializer_list<std::string> parts, XzOptions options = {}) {
  lzma_options_lzma of{};
  lzma_lzma_preset(&of, 0);
  of.dict_size = options.dictionary;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &of}, {LZMA_VLI_UNKNOWN, nullptr}};
  lzma_stream stream = LZMA_STREAM_INIT;
  std::string out;
  if (lzma_stream_encoder(&stream, filters, options.check) != LZMA_OK)
    return out;
  std::string room(1 << 16, '\0');
  auto run = [&](const std::string &part, lzma_action action) {
    stream.next_in = reinterpret_cast<const std::uint8_t *>(part.data());
    stream.avail_in = part.size();
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK) {
      stream.next_out = reinterpret_cast<std::uint8_t *>(room.data());
      stream.avail_out = room.size();
      result = lzma_code(&stream, action);
      out.append(room, 0, room.size() - stream.avail_out);
    }
  };
  for (const std::string &part : parts)
    run(part, &part + 1 == parts.end() ? LZMA_FINISH : LZMA_FULL_FLUSH);
  lzma_end(&stream);
  return out;
}

inline std::string xz(const std::string &text) { return xz({text}); }

// As xz -T leaves it: blocks of 128 KiB that state their sizes.
inline std::string xz_of_threads(const std::string &text) {
  lzma_mt several{};
  several.threads = 2;
  several.block_size = 128 << 10;
  several.preset = 0;
  several.check = LZMA_CHECK_CRC64;
  lzma_stream stream = LZMA_STREAM_INIT;
  std::string out(lzma_stream_buffer_bound(text.size()) + (1 << 16), '\0');
  if (lzma_stream_encoder_mt(&stream, &several) != LZMA_OK)
    return {};
  stream.next_in = reinterpret_cast<const std::uint8_t *>(text.data());
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<std::uint8_t *>(out.data());
  stream.avail_out = out.size();
  while (lzma_code(&stream, LZMA_FINISH) == LZMA_OK) {
  }
  out.resize(stream.total_out);
  lzma_end(&stream);
  return out;
}

} // namespace dnheap::test
