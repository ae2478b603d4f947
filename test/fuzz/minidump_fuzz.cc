// Any bytes as a Windows minidump.
#include "dump/minidump.h"

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  auto storage = std::make_shared<std::vector<u8>>(data, data + size);
  try {
    if (std::unique_ptr<Target> target = open_minidump(std::as_bytes(std::span(*storage)), storage))
      for (const Module &module : target->modules)
        (void)target->memory.view_up_to(module.base, 4096);
  } catch (const Error &) {
    // Saying so is the right answer to most bytes.
  }
  return 0;
}
