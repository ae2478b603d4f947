// --live and --dead: which objects a question is about, when that depends on what keeps them alive; how that is said.
#pragma once
#include "analysis/verb.h"
#include "heap/tally.h"
#include "snapshot/snapshot.h"

namespace dnheap {

// What every verb says of objects in frozen segments. They are never dead, see objects/frozen_objects.h.
inline constexpr const char *never_freed = "which the GC never frees";

// What of the Snapshot that takes, and the notes below.
Passes passes_of_life(const Question &question);

// All that the question says of single objects: --min, --max, --range, --refers-to, --live, --dead (Free is neither,
// and what only lies in a frozen segment). Valid as long as what the snapshot has worked out.
ObjectFilter filter_of(Snapshot &snapshot, const Question &question);

// Says in the answer what counts as alive, and what of the roots could not be read.
void add_live_notes(Snapshot &snapshot, const Question &question, report::Answer &answer);

} // namespace dnheap
