#include "analysis/process/mapped_places.h"

namespace dnheap {

std::vector<MappedPlace> mapped_places(const Target &target) {
  std::vector<MappedPlace> out;
  for (const Mapping &mapping : target.mappings)
    out.push_back({mapping, mapping.name.starts_with('/')});
  if (target.mappings.empty())
    for (const Range &range : target.memory.ranges())
      out.push_back({{range.address, range.end(), range.end()}, false});
  for (const Module &module : target.modules)
    for (const Extent &extent : module.extents) {
      Mapping mapping{extent.start, extent.end, extent.start};
      mapping.writable = false;
      out.push_back({mapping, true});
    }
  return out;
}

} // namespace dnheap
