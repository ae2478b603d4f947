#include "explore/deflated.h"

#include <new>
#include <zlib.h>

namespace dnheap::explore {

std::string deflated(std::string_view text, int level) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef *>(out.data()), &size, reinterpret_cast<const Bytef *>(text.data()), text.size(),
                level) != Z_OK)
    throw std::bad_alloc();
  out.resize(size);
  out.shrink_to_fit();
  return out;
}

std::optional<std::string> inflated(std::string_view bytes, u64 size) {
  std::string out(size, '\0');
  uLongf written = size;
  if (uncompress(reinterpret_cast<Bytef *>(out.data()), &written, reinterpret_cast<const Bytef *>(bytes.data()),
                 bytes.size()) != Z_OK)
    return std::nullopt;
  out.resize(written);
  return out;
}

} // namespace dnheap::explore
