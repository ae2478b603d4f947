// A table for people on the first screen: figures, and words that may wrap. The same facts are in another table as
// data.
#pragma once
#include "report/table.h"

namespace dnheap {

// `rows`: figures and words.
report::Table figures_table(const char *name, std::string title, std::vector<report::Row> rows);

} // namespace dnheap
