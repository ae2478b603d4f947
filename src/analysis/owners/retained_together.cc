#include "analysis/owners/retained_together.h"

#include "objects/object_index.h"

#include <algorithm>

namespace dnheap {

Retained retained_together(const Snapshot &snapshot, const DominatorTree &tree, std::span<const Address> objects) {
  std::vector<TreePlace> places;
  for (Address object : objects)
    if (const ObjectId id = snapshot.index().find(object); id != no_object)
      if (const std::optional<TreePlace> place = tree.place(id))
        places.push_back(*place);
  std::ranges::sort(places);
  Retained out;
  TreePlace end{};
  for (TreePlace place : places)
    if (place >= end) {
      const Retained one = tree.retained(place);
      out.objects += one.objects;
      out.bytes += one.bytes;
      end = tree.end(place);
    }
  return out;
}

} // namespace dnheap
