// Lz4Decoder: decompresses LZ4 frames, and skips those that are to be skipped; not the legacy format of lz4 -l. Takes
// less than 9 MiB, two of the largest blocks.
#pragma once
#include "dump/decoders/step.h"

#include <memory>

struct LZ4F_dctx_s;

namespace dnheap {

class Lz4Decoder {
public:
  static constexpr const char *name = "lz4";
  static bool starts(Bytes rest); // also true for frames that are skipped

  explicit Lz4Decoder(unsigned threads = 1);

  DecoderStep run(Bytes &input, std::span<std::byte> output);

private:
  static constexpr u64 first_wanted = 7; // the shortest header of a frame
  u64 wanted_ = first_wanted;
  struct Free {
    void operator()(LZ4F_dctx_s *context) const;
  };
  std::unique_ptr<LZ4F_dctx_s, Free> context_;
};

} // namespace dnheap
