// ZstdDecoder: decompresses zstd frames (RFC 8878) with windows of up to 128 MiB; larger ones need zstd's option
// --long, and throw Error. Takes as much memory as the window.
#pragma once
#include "dump/decoders/step.h"

#include <memory>

struct ZSTD_DCtx_s;

namespace dnheap {

class ZstdDecoder {
public:
  static constexpr const char *name = "zstd";
  static constexpr int largest_window = 27; // log2
  static bool starts(Bytes rest);           // also true for frames that are skipped

  explicit ZstdDecoder(unsigned threads = 1);

  DecoderStep run(Bytes &input, std::span<std::byte> output);

private:
  static constexpr u64 first_wanted = 5; // the shortest start of a frame
  u64 wanted_ = first_wanted;
  struct Free {
    void operator()(ZSTD_DCtx_s *context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

} // namespace dnheap
