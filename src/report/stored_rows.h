// store_rows: pulls an answer's rows now, so that nothing of where they came from is needed any more. Many rows go to a
// temporary file: some 10 bytes a cell, texts once each. For answers about a process that waits to go on.
#pragma once
#include "base/watch.h"
#include "report/answer.h"

namespace dnheap::report {

// Of each table at most `top` rows and one more (0: all), unless it is to be shown whole. Throws what the rows' sources
// throw, and Error when the disk is full.
void store_rows(Answer &answer, u64 top, const std::string &temp_dir, const Watch &watch);

} // namespace dnheap::report
