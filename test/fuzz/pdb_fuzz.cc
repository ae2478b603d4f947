// Any bytes as a .pdb of native code.
#include "image/pdb_publics.h"

#include <cstdlib>

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  std::string why;
  const std::optional<PdbPublics> publics = PdbPublics::read(std::as_bytes(std::span(data, size)), why);
  if (!publics && why.empty())
    std::abort();
  for (u32 rva = 0; publics && rva < 1 << 20; rva += 1021)
    if (const std::optional<PdbPublics::Function> found = publics->find(rva); found && found->start > rva)
      std::abort();
  return 0;
}
