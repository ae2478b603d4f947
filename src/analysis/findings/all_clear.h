// The words of `report` where it found nothing: the areas in which nothing stands out, and where to begin if the
// program hangs. Plain looks at what an Examination has; not for several threads at once.
#pragma once
#include "analysis/findings/activity.h"
#include "analysis/findings/examination.h"

#include <string>
#include <vector>

namespace dnheap {

// Returns "4 threads wait for a lock in Shop.Buy (Shop.cs:41); if the program hangs, begin there." for the group that
// most probably is the reason. Empty: no group is, since they only wait for time to pass.
std::string where_to_begin(const Activities &activities);

// Returns the verb that shows more of that group: "threads" or "async"; empty: there is none.
const char *verb_to_begin(const Activities &activities);

// Returns " Nothing stands out in locks, timers or events." It names only what found nothing, holds little of the
// memory, and is nothing for which the program waits. Empty if nothing is left to name.
std::string all_clear(const Examination &examined, const Activities &activities, bool is_beside_all_clear);

} // namespace dnheap
