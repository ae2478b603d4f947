#include "analysis/verdict/thrown_in_pieces.h"

namespace dnheap {

std::optional<ExceptionObject> thrown_in_pieces(const Snapshot &snapshot, ExceptionObjects &objects, Address method) {
  std::optional<ExceptionObject> found;
  if (!method || snapshot.heap().segments().empty())
    return found;
  for (const TypedObject &object : objects.all()) {
    const ExceptionObject one = objects.read(object);
    if (one.methods.empty() || one.methods.front() != method)
      continue;
    if (found)
      return std::nullopt;
    found = one;
  }
  return found;
}

} // namespace dnheap
