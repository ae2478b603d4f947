#include "dump/compressed.h"

#include "base/mapping_faults.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace dnheap {

namespace {

constexpr u64 step = 4 << 20;      // bytes of input or output between two looks at Progress
constexpr int largest_window = 27; // log2; zstd needs the option --long to make larger ones

bool is_zstd(Bytes file) {
  std::optional<u32> magic = load_at<u32>(file, 0, ByteOrder::little);
  constexpr u32 frame = 0xfd2fb528, skippable = 0x184d2a50; // the lowest 4 bits of the second are free
  return magic && (*magic == frame || (*magic & ~u32{15}) == skippable);
}

bool is_gzip(Bytes file) { return load_at<u16>(file, 0, ByteOrder::big) == 0x1f8b; }

// One step of a decoder: takes bytes off the front of `input`, fills the front of `output`.
struct Step {
  u64 written = 0;
  bool ended = false; // a frame or member is complete
  std::string error;
};

class Zstd {
public:
  static constexpr const char *name = "zstd";
  static bool starts(Bytes rest) { return is_zstd(rest); }

  Zstd() { ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, largest_window); }

  Step run(Bytes &input, std::span<std::byte> output) {
    // A call that meets damage gives nothing at all. Small calls lose less.
    ZSTD_inBuffer in{input.data(), std::min<u64>(input.size(), ZSTD_DStreamInSize()), 0};
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    input = input.subspan(in.pos);
    Step done{out.pos, result == 0, {}};
    if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
      throw Error("compressed with a zstd window above 128 MiB: decompress it with zstd -d --long=31 first");
    if (ZSTD_isError(result))
      done.error = ZSTD_getErrorName(result);
    return done;
  }

private:
  struct Free {
    void operator()(ZSTD_DCtx *context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
};

class Gzip {
public:
  static constexpr const char *name = "gzip";
  static bool starts(Bytes rest) { return is_gzip(rest); }

  Gzip() {
    constexpr int any_window_with_gzip_header = 15 + 16;
    if (inflateInit2(&stream_, any_window_with_gzip_header) != Z_OK)
      throw Error("not enough memory to decompress");
  }
  ~Gzip() { inflateEnd(&stream_); }
  Gzip(const Gzip &) = delete;
  Gzip &operator=(const Gzip &) = delete;

  Step run(Bytes &input, std::span<std::byte> output) {
    uInt given = static_cast<uInt>(std::min<u64>(input.size(), step));
    stream_.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(input.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef *>(output.data());
    stream_.avail_out = static_cast<uInt>(output.size());
    int result = inflate(&stream_, Z_NO_FLUSH);
    input = input.subspan(given - stream_.avail_in);
    Step done{output.size() - stream_.avail_out, result == Z_STREAM_END, {}};
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      done.error = stream_.msg ? stream_.msg : "not valid";
    if (done.ended)
      inflateReset(&stream_);
    return done;
  }

private:
  z_stream stream_{};
};

// Where a mapped file begins to be unreadable, and why.
struct Loss {
  u64 offset = 0;
  std::string reason;
};

std::optional<Loss> first_loss(Bytes file) {
  for (const LostBytes &lost : find_lost_bytes()) {
    if (lost.bytes.data() < file.data() || lost.bytes.data() >= file.data() + file.size())
      continue;
    if (lost.changed)
      throw Error(lost.reason + "; open it again once nothing writes to it");
    return Loss{static_cast<u64>(lost.bytes.data() - file.data()), lost.reason};
  }
  return std::nullopt;
}

// Fills in all but the file.
template <class Decoder> Decompressed decompress_all(Bytes file, TemporaryFile &out, const Watch &watch) {
  Decoder decoder;
  std::vector<std::byte> buffer(step);
  Bytes rest = file;
  std::string problem;
  u64 losses = 0;
  std::optional<Loss> loss;
  for (bool ended = false;;) {
    watch.check();
    u64 at = file.size() - rest.size();
    if (watch.progress)
      watch.progress->done = at;
    if (ended && rest.empty())
      return {};
    // Zeros behind the last frame are padding (of tapes, of devices). Anything else is worth a note.
    bool is_padding = ended && !Decoder::starts(rest);
    std::string after;
    if (is_padding && std::any_of(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; }))
      after = fmt::format("{} after the {} data were ignored", bytes_text(rest.size()), Decoder::name);
    if (is_padding && !first_loss(file))
      return {nullptr, after};
    Step done = decoder.run(rest, buffer);
    if (u64 now = count_losses(); now != losses) {
      loss = first_loss(file);
      losses = now;
    }
    bool lost = loss && (loss->offset < file.size() - rest.size() || !done.error.empty());
    if (!lost) // otherwise the damage comes from the file, which was lost while it was read
      out.write(Bytes(buffer).first(done.written));
    ended = done.ended;
    if (lost)
      problem = "could not be read to their end: " + loss->reason;
    else if (!done.error.empty())
      problem = fmt::format("are damaged at or before byte {} of {} ({})", at, file.size(), done.error);
    else if (!ended && rest.empty() && done.written < buffer.size())
      problem = fmt::format("are cut off: the file ends at byte {}", file.size());
    if (problem.empty())
      continue;
    if (out.size() == 0)
      throw Error(fmt::format("its {} data {}, and nothing could be decompressed", Decoder::name, problem));
    bool damaged = !lost && !done.error.empty();
    return {nullptr,
            fmt::format("the {} data {}; this is the part before it, {}{}", Decoder::name, problem,
                        bytes_text(out.size()), damaged ? ", which may be wrong in places" : ""),
            damaged};
  }
}

} // namespace

struct Compressor::State {
  std::function<void(Bytes)> to;
  ZSTD_CCtx *context = ZSTD_createCCtx();
  std::vector<std::byte> out = std::vector<std::byte>(ZSTD_CStreamOutSize());

  ~State() { ZSTD_freeCCtx(context); }

  // True when nothing is left inside.
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

bool is_compressed(Bytes file) { return is_zstd(file) || is_gzip(file); }

Decompressed decompress(Bytes file, const std::string &temp_dir, const Watch &watch) {
  Timer timer(watch, "decompress", file.size());
  MappedFile::will_read(file);
  TemporaryFile out(temp_dir);
  Decompressed result = is_zstd(file) ? decompress_all<Zstd>(file, out, watch) : decompress_all<Gzip>(file, out, watch);
  result.file = out.map();
  return result;
}

} // namespace dnheap
