// The table of `account` for views of memory-mapped files: by file, and by what holds them.
#pragma once
#include "analysis/native/mapped_views.h"
#include "analysis/plan.h"
#include "report/answer.h"

namespace dnheap {

// One row for each file and holder: "views". Finding the holders costs RankedPaths, if there are views.
report::Table views_table(const Snapshot &snapshot, const std::vector<MappedView> &views, bool in_text);
// True if the views take so much of the process that people want to know whose they are.
bool are_views_worth_a_look(const std::vector<MappedView> &views, u64 mapped);
// Adds what views_table() may do.
void foresee_views(Plan &plan);

} // namespace dnheap
