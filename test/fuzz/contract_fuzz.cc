// Any bytes as a contract descriptor's JSON; and as memory in which a descriptor lies.
#include "contract/parse.h"

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  Bytes bytes = std::as_bytes(std::span(data, size));
  const u64 pointers[] = {0, 0x1000, ~u64{0}};
  try {
    (void)parse_descriptor_json(as_text(bytes), pointers);
  } catch (const Error &) {
    // Saying so is the right answer to most bytes.
  }
  // The header, then what the fuzzer likes, at the address where the header points first.
  std::vector<std::byte> memory_bytes(8);
  std::memcpy(memory_bytes.data(), &descriptor_magic, 8);
  memory_bytes.insert(memory_bytes.end(), bytes.begin(), bytes.end());
  try {
    (void)parse_descriptor(Memory({}, {{0x1000, memory_bytes}}), 0x1000);
  } catch (const Error &) {
  }
  return 0;
}
