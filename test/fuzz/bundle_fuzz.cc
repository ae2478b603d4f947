// Any bytes as a single-file program.
#include "image/bundle.h"

#include <cstdlib>

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  Bytes bytes = std::as_bytes(std::span(data, size));
  for (const BundledFile &file : read_bundle(bytes))
    if (file.size && slice(bytes, file.offset, file.size).empty())
      std::abort();
  return 0;
}
