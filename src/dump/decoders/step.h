// DecoderStep: the result of one call of a decoder. A decoder is a class with a `name`, `starts(rest)`, whether one of
// its frames begins at these bytes, and `run(input, output)`, which consumes bytes at the front of `input` and fills
// the front of `output`. After the end of a frame the next call begins another one. For dump/compressed.cc.
#pragma once
#include "base/bytes.h"

#include <string>

namespace dnheap {

struct DecoderStep {
  u64 written = 0;
  bool ended = false; // a frame or member is complete; with an error: only its checksum is wrong
  std::string error;
  bool repeats = false; // the decoder reads earlier input again, so a step without output is not the end
};

} // namespace dnheap
