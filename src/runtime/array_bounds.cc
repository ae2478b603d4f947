#include "runtime/array_bounds.h"

#include <algorithm>

namespace dnheap {

// The lengths of the dimensions, then their lower bounds, follow the number of all elements (src/coreclr/vm/object.h,
// ArrayBase).
std::optional<ArrayBounds> ArrayBounds::of(const Memory &memory, Address object, const ElementShape &shape) {
  const u64 p = memory.format().pointer_size;
  const std::optional<u32> count = shape.rank ? memory.try_load<u32>(object + p) : std::nullopt;
  if (!count)
    return std::nullopt;
  ArrayBounds out;
  u64 elements = 1;
  bool is_empty = false;
  for (u32 i = 0; i < shape.rank; ++i) {
    const std::optional<u32> length = memory.try_load<u32>(object + 2 * p + 4 * i),
                             lower = memory.try_load<u32>(object + 2 * p + 4 * (shape.rank + i));
    if (!length || !lower)
      return std::nullopt;
    out.dimensions_.push_back({*length, static_cast<i32>(*lower)});
    is_empty |= *length == 0;
    // The cap avoids overflow: no array has so many elements.
    elements = std::min<u64>(elements * std::max(*length, 1u), u64{1} << 32);
  }
  return (is_empty ? 0 : elements) == *count ? std::optional(std::move(out)) : std::nullopt;
}

std::string ArrayBounds::text() const {
  std::string out;
  for (const Dimension &d : dimensions_)
    out += (out.empty() ? "[" : ",") + std::to_string(d.lower) + ".." + std::to_string(i64{d.lower} + d.length - 1);
  return out + "]";
}

std::string ArrayBounds::index(u64 element) const {
  std::string out;
  for (u64 i = dimensions_.size(); i-- > 0;) {
    const Dimension &d = dimensions_[i];
    const u64 here = i && d.length ? element % d.length : element;
    out = std::to_string(i64{d.lower} + static_cast<i64>(here)) + (out.empty() ? "" : "," + out);
    element /= std::max(d.length, 1u);
  }
  return out;
}

} // namespace dnheap
