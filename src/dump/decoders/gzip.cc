#include "dump/decoders/gzip.h"

#include "base/error.h"

#include <algorithm>
#include <zlib.h>

namespace dnheap {

void GzipDecoder::End::operator()(z_stream_s *stream) const {
  inflateEnd(stream);
  delete stream;
}

GzipDecoder::GzipDecoder(unsigned) : stream_(new z_stream_s{}) {
  constexpr int any_window_with_gzip_header = 15 + 16;
  if (inflateInit2(stream_.get(), any_window_with_gzip_header) != Z_OK)
    throw Error("not enough memory to decompress");
}

DecoderStep GzipDecoder::run(Bytes &input, std::span<std::byte> output) {
  constexpr u64 most_given = 4 << 20; // zlib counts in 32 bits
  const uInt given = static_cast<uInt>(std::min<u64>(input.size(), most_given));
  const uInt room = static_cast<uInt>(std::min<u64>(output.size(), most_given));
  stream_->next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(input.data()));
  stream_->avail_in = given;
  stream_->next_out = reinterpret_cast<Bytef *>(output.data());
  stream_->avail_out = room;
  const int result = inflate(stream_.get(), Z_NO_FLUSH);
  input = input.subspan(given - stream_->avail_in);
  DecoderStep done{room - stream_->avail_out, result == Z_STREAM_END, {}};
  if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
    done.error = stream_->msg ? stream_->msg : "not valid";
  if (done.ended)
    inflateReset(stream_.get());
  return done;
}

} // namespace dnheap
