#include "dump/decoders/lz4.h"

#include "base/error.h"

#include <algorithm>
#include <lz4frame.h>
#include <new>
#include <string_view>

namespace dnheap {

namespace {

// The library's public header has names for errors, and no numbers.
constexpr std::string_view lz4_checksum_wrong = "ERROR_contentChecksum_invalid",
                           lz4_no_memory = "ERROR_allocation_failed";

} // namespace

bool Lz4Decoder::starts(Bytes rest) {
  constexpr u32 frame = 0x184d2204, skippable = 0x184d2a50; // the lowest 4 bits of the second may have any value
  const std::optional<u32> magic = load_at<u32>(rest, 0, ByteOrder::little);
  return magic && (*magic == frame || (*magic & ~u32{15}) == skippable);
}

void Lz4Decoder::Free::operator()(LZ4F_dctx_s *context) const { LZ4F_freeDecompressionContext(context); }

Lz4Decoder::Lz4Decoder(unsigned) {
  LZ4F_dctx *context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
    throw std::bad_alloc();
  context_.reset(context);
}

DecoderStep Lz4Decoder::run(Bytes &input, std::span<std::byte> output) {
  // A call that meets damage does not say how much it wrote, so give each call only what lz4 wants next: a block, or
  // the checksum.
  std::size_t consumed = std::min<u64>(input.size(), wanted_), written = output.size();
  const u64 given = consumed;
  const std::size_t result = LZ4F_decompress(context_.get(), output.data(), &written, input.data(), &consumed, nullptr);
  if (!LZ4F_isError(result)) {
    input = input.subspan(consumed);
    wanted_ = result == 0 ? first_wanted : result;
    return {written, result == 0, {}};
  }
  const std::string_view error = LZ4F_getErrorName(result);
  LZ4F_resetDecompressionContext(context_.get());
  wanted_ = first_wanted;
  if (error == lz4_no_memory)
    throw std::bad_alloc();
  const bool is_over = error == lz4_checksum_wrong;
  if (is_over)
    input = input.subspan(given);
  return {0, is_over, std::string(error)};
}

} // namespace dnheap
