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
// The findings of `report` of one kind, a line each: "certain 1000: 1,000 handlers were added to …".
std::string findings_of_kind(HeapBuilder &heap, const std::string &kind);

} // namespace dnheap::test
