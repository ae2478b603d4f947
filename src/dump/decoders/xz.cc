#include "dump/decoders/xz.h"

#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <lzma.h>
#include <new>

namespace dnheap {

namespace {

constexpr u64 most_xz_memory = u64{136} << 20; // a dictionary of 128 MiB, and what belongs to it
constexpr u64 most_given_to_xz = 128 << 10;    // bytes of input at a time
constexpr unsigned most_xz_threads = 64;
constexpr unsigned char xz_magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};

u64 find_zeros_end(Bytes bytes) {
  return static_cast<u64>(std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; }) -
                          bytes.begin());
}

lzma_ret begin_xz(lzma_stream &stream, u32 flags, unsigned threads) {
#if LZMA_VERSION >= 50040000
  if (threads > 1) {
    lzma_mt several{};
    several.flags = flags;
    several.threads = threads;
    several.memlimit_threading = several.memlimit_stop = most_xz_memory;
    return lzma_stream_decoder_mt(&stream, &several);
  }
#else
  (void)threads;
#endif
  return lzma_stream_decoder(&stream, most_xz_memory, flags);
}

} // namespace

// liblzma calls a wrong checksum damage, and stops there. So a stream with damage is decompressed once more, from its
// start and without looking at checksums: the decoder then stops only where it cannot go on.
struct XzDecoder::State {
  unsigned threads;
  lzma_stream stream = LZMA_STREAM_INIT;
  bool is_inside = false; // a stream
  bool looks_at_checksums = true;
  Bytes start;        // of the stream, to the end of the file
  u64 given_out = 0;  // bytes of this stream
  u64 to_discard = 0; // bytes that were given out before the stream began again

  explicit State(unsigned count) : threads(std::clamp(count, 1u, most_xz_threads)) {}
  ~State() { lzma_end(&stream); }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  void begin(Bytes input, bool checksums) {
    start = input;
    is_inside = true;
    looks_at_checksums = checksums;
    to_discard = checksums ? 0 : given_out;
    given_out = 0;
    if (begin_xz(stream, checksums ? 0 : LZMA_IGNORE_CHECK, threads) != LZMA_OK)
      throw std::bad_alloc();
  }

  lzma_ret code(Bytes &input, std::span<std::byte> output) {
    const u64 given = std::min<u64>(input.size(), most_given_to_xz);
    const lzma_action action = given == input.size() ? LZMA_FINISH : LZMA_RUN;
    stream.next_in = reinterpret_cast<const u8 *>(input.data());
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<u8 *>(output.data());
    stream.avail_out = output.size();
    lzma_ret result = LZMA_OK;
    do // several threads may have output to come after the last input
      result = lzma_code(&stream, action);
    while (result == LZMA_OK && action == LZMA_FINISH && stream.avail_in == 0 && stream.avail_out > 0);
    input = input.subspan(given - stream.avail_in);
    return result;
  }

  // Returns how many bytes at the front of `output` are new.
  u64 keep_new(std::span<std::byte> output, u64 written) {
    const u64 old = std::min(written, to_discard);
    to_discard -= old;
    if (old > 0 && old < written)
      std::memmove(output.data(), output.data() + old, written - old);
    return written - old;
  }
};

bool XzDecoder::begins(Bytes file) {
  return file.size() >= sizeof xz_magic && std::memcmp(file.data(), xz_magic, sizeof xz_magic) == 0;
}

bool XzDecoder::starts(Bytes rest) { return begins(rest.subspan(find_zeros_end(rest))); }

XzDecoder::XzDecoder(unsigned threads) : state_(std::make_unique<State>(threads)) {}

XzDecoder::~XzDecoder() = default;

DecoderStep XzDecoder::run(Bytes &input, std::span<std::byte> output) {
  State &s = *state_;
  if (!s.is_inside) {
    input = input.subspan(find_zeros_end(input));
    s.given_out = 0;
    s.begin(input, true);
  }
  const lzma_ret result = s.code(input, output);
  if (result == LZMA_DATA_ERROR && s.looks_at_checksums) {
    s.begin(input = s.start, false);
    return {0, false, {}, true};
  }
  const bool repeats = s.to_discard > 0;
  const u64 written = s.keep_new(output, output.size() - s.stream.avail_out);
  s.given_out += written;
  switch (result) {
  case LZMA_OK:
  case LZMA_BUF_ERROR: return {written, false, {}, repeats && result == LZMA_OK}; // the latter: all input is consumed
  case LZMA_STREAM_END: s.is_inside = false; return {written, true, s.looks_at_checksums ? "" : "wrong checksum"};
  case LZMA_MEM_ERROR: throw std::bad_alloc();
  case LZMA_MEMLIMIT_ERROR:
    throw Error("compressed with an xz dictionary above 128 MiB: decompress it with xz -d first");
  case LZMA_OPTIONS_ERROR: return {written, false, "options that liblzma does not know"};
  default: return {written, false, "not valid"};
  }
}

} // namespace dnheap
