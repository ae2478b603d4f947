#include "dump/compressor.h"

#include "base/error.h"

#include <utility>
#include <vector>
#include <zstd.h>

namespace dnheap {

struct Compressor::State {
  std::function<void(Bytes)> to;
  ZSTD_CCtx *context = ZSTD_createCCtx();
  std::vector<std::byte> out = std::vector<std::byte>(ZSTD_CStreamOutSize());

  ~State() { ZSTD_freeCCtx(context); }

  // Returns true when all output has been passed on.
  bool run(ZSTD_inBuffer &in, ZSTD_EndDirective what) {
    ZSTD_outBuffer part{out.data(), out.size(), 0};
    std::size_t left = ZSTD_compressStream2(context, &part, &in, what);
    if (ZSTD_isError(left))
      throw Error(std::string("cannot compress: ") + ZSTD_getErrorName(left));
    to(Bytes(out).first(part.pos));
    return left == 0;
  }
};

Compressor::Compressor(std::function<void(Bytes)> to) : state_(std::make_unique<State>()) {
  state_->to = std::move(to);
  if (!state_->context)
    throw Error("not enough memory to compress");
  ZSTD_CCtx_setParameter(state_->context, ZSTD_c_checksumFlag, 1);
}

Compressor::~Compressor() = default;

void Compressor::write(Bytes bytes) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (in.pos < in.size)
    state_->run(in, ZSTD_e_continue);
}

void Compressor::finish() {
  ZSTD_inBuffer in{nullptr, 0, 0};
  while (!state_->run(in, ZSTD_e_end)) {
  }
}

} // namespace dnheap
