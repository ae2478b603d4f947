// ArrayBounds: lengths and lower bounds of an array with several dimensions, or with one that does not begin at 0, as
// the object itself has them; and what its elements are called by them. Two reads per dimension. Any thread.
#pragma once
#include "runtime/fields.h"
#include "target/memory.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

class ArrayBounds {
public:
  // Nullopt: a vector, whose elements are counted from 0; or bounds that are not known, or make another number of
  // elements than the object says.
  static std::optional<ArrayBounds> of(const Memory &memory, Address object, const ElementShape &shape);

  std::string text() const;             // "[0..1,5..7]"; of a dimension without elements "[0..-1]"
  std::string index(u64 element) const; // "1,5" of the fourth of them; the last dimension runs fastest

private:
  struct Dimension {
    u32 length = 0;
    i32 lower = 0;
  };
  std::vector<Dimension> dimensions_;
};

} // namespace dnheap
