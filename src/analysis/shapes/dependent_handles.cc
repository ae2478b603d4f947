#include "analysis/shapes/dependent_handles.h"

#include "base/error.h"
#include "runtime/gc.h"

namespace dnheap {

std::vector<HandleData> dependent_handles(const Runtime &runtime) {
  std::vector<HandleData> out;
  Notes ignored; // already reported where roots are read
  try {
    out = runtime.gc().get_handles(std::vector{HandleType::dependent}, ignored);
  } catch (const Error &) { // no handle table
  }
  std::erase_if(out, [](const HandleData &one) { return !one.secondary.value_or(0); });
  return out;
}

} // namespace dnheap
