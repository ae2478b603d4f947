// XzDecoder: decompresses xz streams, with any zeros between them. Streams of several blocks (xz -T) are decompressed
// by all threads. Takes up to about 136 MiB, for all threads together; a stream whose dictionary is larger throws
// Error.
#pragma once
#include "dump/decoders/step.h"

#include <memory>

namespace dnheap {

class XzDecoder {
public:
  static constexpr const char *name = "xz";
  static bool begins(Bytes file); // a stream, at once
  static bool starts(Bytes rest); // a stream, maybe after zeros

  explicit XzDecoder(unsigned threads = 1);
  ~XzDecoder();

  DecoderStep run(Bytes &input, std::span<std::byte> output);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace dnheap
