#include "runtime/facts/assembly.h"

namespace dnheap {

bool has_framework_namespace(std::string_view name) {
  // A name without a namespace is the program's, except those of the classes for native calls ("Interop").
  for (std::string_view space : {"System.", "Microsoft.", "Internal.", "Interop.", "Interop+", "MS.", "Windows."})
    if (name.starts_with(space))
      return true;
  return false;
}

} // namespace dnheap
