// --live and --dead: selects objects by whether they are alive, and adds notes on what counts as alive.
#pragma once
#include "analysis/verb.h"
#include "heap/tally.h"
#include "snapshot/snapshot.h"

namespace dnheap {

// The phrase of all verbs for objects in frozen segments. They are never dead, see objects/frozen_objects.h.
inline constexpr const char *never_freed = "which the GC never frees";

// Returns the passes of the Snapshot that the filter and the notes below need.
Passes passes_of_life(const Question &question);

// Returns the filter for all options about single objects: --min, --max, --range, --refers-to, --live, --dead (Free,
// and objects that only lie in a frozen segment, are neither live nor dead). Valid as long as the snapshot's results.
ObjectFilter filter_of(const Snapshot &snapshot, const Question &question);

// Adds to the answer what counts as alive, and which roots could not be read.
void add_live_notes(const Snapshot &snapshot, const Question &question, report::Answer &answer);

} // namespace dnheap
