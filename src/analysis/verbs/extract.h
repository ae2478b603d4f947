// ask_and_extract: what `dnheap extract` does: asks whatever can be asked, so that the core holds what answers rest on,
// and writes it. Of a live process all memory is copied first, and the process goes on. Takes what these questions
// take; one thread.
#pragma once
#include "snapshot/extract.h"

namespace dnheap {

// The snapshot has to record what is read. Throws as extract_core() does.
ExtractedCore ask_and_extract(Snapshot &snapshot, const ExtractOptions &options);

} // namespace dnheap
