// The table `entries` of `show`: what is in a collection, a row per key and value, or per element. Reads as many
// entries as are shown, at most a million.
#pragma once
#include "analysis/question.h"
#include "report/answer.h"
#include "snapshot/snapshot.h"

namespace dnheap {

// Adds the table if the object is a collection; if it is one of unknown shape, a note instead; if it is damaged, both.
// Arrays have none: `elements` and `references` show these.
void add_entries_table(const Snapshot &snapshot, Address object, const Question &question, report::Answer &answer);

} // namespace dnheap
