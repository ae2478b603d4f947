#include "runtime/assembly.h"

namespace dnheap {

bool has_framework_namespace(std::string_view name) {
  // What has no namespace is the program's, but for the classes of native calls.
  for (std::string_view space : {"System.", "Microsoft.", "Internal.", "Interop.", "Interop+", "MS.", "Windows."})
    if (name.starts_with(space))
      return true;
  return false;
}

} // namespace dnheap
