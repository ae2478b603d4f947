// ListedObjects: the objects of a listing of a heap, whatever its format. Asked several times, by all threads at once,
// so that no reference has to be kept.
#pragma once
#include "base/integers.h"

#include <functional>
#include <span>

namespace dnheap {

struct ListedObject {
  Address address = 0;
  u32 type = 0; // below the number of types that the listing has
  u64 size = 0;
  std::span<const Address> references; // no nulls; valid during the visit
};

class ListedObjects {
public:
  virtual ~ListedObjects() = default;
  // Entries: objects, and what a listing may hold besides; these are not visited.
  virtual u64 entries() const = 0;
  using Visit = std::function<void(const ListedObject &)>;
  // Visits the objects among the entries [first, last).
  virtual void for_each(u64 first, u64 last, const Visit &visit) const = 0;
};

} // namespace dnheap
