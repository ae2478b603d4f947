// ask_and_extract: the work of `dnheap extract`. It asks all questions that can be asked, in order to learn which data
// answers need, and writes a core with these data. All memory of a live process is copied first, and then the process
// goes on. Costs what these questions cost; one thread.
#pragma once
#include "snapshot/extract.h"

namespace dnheap {

// The snapshot must record reads. Throws as extract_core() does.
ExtractedCore ask_and_extract(const Snapshot &snapshot, const ExtractOptions &options);

} // namespace dnheap
