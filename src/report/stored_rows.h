// store_rows: reads an answer's rows now, so that their source is no longer needed. Many rows go to a temporary file:
// some 10 bytes a cell, each text once. For answers about a process that is stopped until its data are no longer
// needed.
#pragma once
#include "base/watch.h"
#include "report/answer.h"

namespace dnheap::report {

// Stores at most `top` rows per table and one more (0: all rows); tables with `whole` set are stored whole. Throws the
// errors of the rows' sources, and Error when the disk is full.
void store_rows(Answer &answer, u64 top, const std::string &temp_dir, const Watch &watch);

} // namespace dnheap::report
