// GzipDecoder: decompresses gzip members (RFC 1952). Takes less than 64 KiB.
#pragma once
#include "dump/decoders/step.h"

#include <memory>

struct z_stream_s;

namespace dnheap {

class GzipDecoder {
public:
  static constexpr const char *name = "gzip";
  static bool starts(Bytes rest) { return load_at<u16>(rest, 0, ByteOrder::big) == 0x1f8b; }

  explicit GzipDecoder(unsigned threads = 1); // throws Error if memory is short

  DecoderStep run(Bytes &input, std::span<std::byte> output);

private:
  struct End {
    void operator()(z_stream_s *stream) const;
  };
  std::unique_ptr<z_stream_s, End> stream_;
};

} // namespace dnheap
