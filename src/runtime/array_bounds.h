// ArrayBounds: the lengths and lower bounds of one array object that has several dimensions or does not begin at 0, and
// the names of its elements by these bounds. Two reads per dimension. Any thread.
#pragma once
#include "runtime/fields.h"
#include "target/memory.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

class ArrayBounds {
public:
  // Nullopt: the array is a vector, whose elements are counted from 0; or its bounds are unknown, or the number of
  // elements that they make up is not the object's count.
  static std::optional<ArrayBounds> of(const Memory &memory, Address object, const ElementShape &shape);

  std::string text() const;             // "[0..1,5..7]"; a dimension without elements: "[0..-1]"
  std::string index(u64 element) const; // "1,5" for the fourth element of these; the last dimension runs fastest

private:
  struct Dimension {
    u32 length = 0;
    i32 lower = 0;
  };
  std::vector<Dimension> dimensions_;
};

} // namespace dnheap
