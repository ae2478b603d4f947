// Any bytes as a compressed dump: decompressed by one thread and by several, at most 8 MiB, into memory.
#include "base/error.h"
#include "dump/compressed.h"

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  if (!is_compressed(bytes))
    return 0;
  for (unsigned threads : {1u, 2u})
    try {
      // The length of no dump: decompression stops after the first MiB.
      decompress(bytes, "", threads, {}, {.most_in_memory = u64{8} << 20, .length_of = [](Bytes) { return u64{0}; }});
    } catch (const Error &) {
    }
  return 0;
}
