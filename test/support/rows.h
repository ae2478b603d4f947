// What a verb answers about a HeapBuilder's process, row by row, each cell as its JSON or CSV would have it.
#pragma once
#include "analysis/verb.h"
#include "report/write.h"
#include "support/heap_builder.h"

#include <map>
#include <string>
#include <vector>

namespace dnheap::test {

using TextRow = std::map<std::string, std::string>; // by column; absent cells are empty

report::Answer answer_of(HeapBuilder &heap, const char *verb, const Question &question = {});
std::vector<TextRow> text_rows_of(report::Answer &answer, const char *table);

} // namespace dnheap::test
