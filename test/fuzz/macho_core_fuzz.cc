// Any bytes as a Mach-O core.
#include "dump/macho_core.h"

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  auto storage = std::make_shared<std::vector<u8>>(data, data + size);
  const Bytes bytes = std::as_bytes(std::span(*storage));
  (void)length_of_macho_core(bytes);
  try {
    if (std::unique_ptr<Target> target = open_macho_core(bytes, storage))
      for (const Module &module : target->modules)
        (void)target->memory.view_up_to(module.base, 4096);
  } catch (const Error &) {
    // Saying so is the right answer to most bytes.
  }
  return 0;
}
