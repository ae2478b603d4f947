// Compressor: compresses everything given to it into one zstd frame with a checksum, and passes the output on. For
// snapshot/extract.cc.
#pragma once
#include "base/bytes.h"

#include <functional>
#include <memory>

namespace dnheap {

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

} // namespace dnheap
