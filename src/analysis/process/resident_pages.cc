#include "analysis/process/resident_pages.h"

#include "analysis/process/mapped_places.h"
#include "analysis/process/written_pages.h"
#include "snapshot/attached_process.h"

#include <algorithm>

namespace dnheap {

std::optional<ResidentPages> resident_pages(const Snapshot &snapshot) {
  const Target &target = snapshot.target();
  if (target.container == "process") {
    if (const AttachedProcess *process = snapshot.process(); process && process->resident())
      return ResidentPages{*process->resident(), false};
    return std::nullopt;
  }
  if (target.extraction)
    return std::nullopt;
  std::vector<std::pair<Address, Address>> among;
  Address end = 0; // end of the last place added
  std::vector<MappedPlace> places = mapped_places(target);
  std::sort(places.begin(), places.end(),
            [](const MappedPlace &a, const MappedPlace &b) { return a.mapping.start < b.mapping.start; });
  for (const MappedPlace &place : places) {
    const Address from = std::max(end, place.mapping.start),
                  until = std::min(place.mapping.end, place.mapping.stored_end);
    // gcore writes memory that is only reserved, hundreds of GiB in a sparse file, as read-only.
    const bool can_be_written = place.mapping.writable || place.mapping.executable;
    if (!place.is_file && can_be_written && place.mapping.is_accessible() && from < until)
      among.emplace_back(from, until);
    end = std::max(end, place.mapping.end);
  }
  return ResidentPages{written_pages(target.memory, among, snapshot.threads()), true};
}

} // namespace dnheap
