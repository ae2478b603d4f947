// The tables of `report` about what the program does, apart from idle threads: groups of threads, and of calls that
// wait, as data and in words.
#pragma once
#include "analysis/findings/activity.h"
#include "analysis/question.h"
#include "report/table.h"

namespace dnheap {

report::Table activity_table(const Activities &activities);
report::Table activity_as_text(const Activities &activities, const Question &question);

} // namespace dnheap
