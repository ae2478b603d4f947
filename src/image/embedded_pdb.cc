#include "image/embedded_pdb.h"

#include <memory>
#include <zlib.h>

namespace dnheap {

std::vector<std::byte> unpack_embedded_pdb(Bytes data) {
  constexpr u32 signature = 0x4244504d; // "MPDB"
  constexpr u64 header = 8, most_times = 1100;
  const std::optional<u32> size = load_at<u32>(data, 4, ByteOrder::little);
  if (load_at<u32>(data, 0, ByteOrder::little) != signature || !size || data.size() > ~uInt{0} ||
      *size > data.size() * most_times) // deflate cannot compress more than that
    return {};
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return {};
  std::unique_ptr<z_stream, void (*)(z_stream *)> end(&stream, [](z_stream *s) { inflateEnd(s); });
  std::vector<std::byte> out(*size);
  stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(data.data() + header));
  stream.avail_in = static_cast<uInt>(data.size() - header);
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = *size;
  if (inflate(&stream, Z_FINISH) != Z_STREAM_END || stream.avail_out)
    return {};
  return out;
}

} // namespace dnheap
