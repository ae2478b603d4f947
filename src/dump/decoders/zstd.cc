#include "dump/decoders/zstd.h"

#include "base/error.h"

#include <algorithm>
#include <new>
#include <zstd.h>
#include <zstd_errors.h>

namespace dnheap {

bool ZstdDecoder::starts(Bytes rest) {
  constexpr u32 frame = 0xfd2fb528, skippable = 0x184d2a50; // the lowest 4 bits of the second may have any value
  const std::optional<u32> magic = load_at<u32>(rest, 0, ByteOrder::little);
  return magic && (*magic == frame || (*magic & ~u32{15}) == skippable);
}

void ZstdDecoder::Free::operator()(ZSTD_DCtx_s *context) const { ZSTD_freeDCtx(context); }

ZstdDecoder::ZstdDecoder(unsigned) : context_(ZSTD_createDCtx()) {
  if (!context_)
    throw std::bad_alloc();
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, largest_window);
}

DecoderStep ZstdDecoder::run(Bytes &input, std::span<std::byte> output) {
  // A call that meets damage returns no output at all, so give each call only what zstd wants next: a block, or the
  // checksum.
  ZSTD_inBuffer in{input.data(), std::min<u64>(input.size(), wanted_), 0};
  ZSTD_outBuffer out{output.data(), output.size(), 0};
  const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
  input = input.subspan(in.pos);
  DecoderStep done{out.pos, result == 0, {}};
  if (ZSTD_getErrorCode(result) == ZSTD_error_checksum_wrong) {
    input = input.subspan(std::min<u64>(input.size(), wanted_));
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    wanted_ = first_wanted;
    return {0, true, ZSTD_getErrorName(result)};
  }
  wanted_ = result == 0 ? first_wanted : result; // an error ends the frame
  if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
    throw Error("compressed with a zstd window above 128 MiB: decompress it with zstd -d --long=31 first");
  if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
    throw std::bad_alloc();
  if (ZSTD_isError(result))
    done.error = ZSTD_getErrorName(result);
  return done;
}

} // namespace dnheap
