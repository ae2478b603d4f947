// store_rows: reads an answer's rows now, so that their source is no longer needed. Many rows go to a temporary file:
// some 10 bytes a cell, each text once. For answers about a process that waits to go on.
#pragma once
#include "base/watch.h"
#include "report/answer.h"

namespace dnheap::report {

// Stores at most `top` rows and one more per table (0: all); tables that are shown whole are stored whole. Throws the
// errors of the rows' sources, and Error when the disk is full.
void store_rows(Answer &answer, u64 top, const std::string &temp_dir, const Watch &watch);

} // namespace dnheap::report
