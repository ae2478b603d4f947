#include "runtime/vm/module_assembly.h"

namespace dnheap {

bool names_assembly(const Memory &memory, Address module, Address assembly) {
  constexpr u64 module_words = 64;
  const u64 p = memory.format().pointer_size;
  for (u64 i = 1; i < module_words; ++i)
    if (memory.try_pointer(module + i * p) == assembly)
      return true;
  return false;
}

} // namespace dnheap
