// `retained --tree`: the folded dominator tree (folded_tree.h; --raw: each step), largest first; row by row, on the way
// down and up again. What stands below a node is looked at when its rows are due, and a level costs what its nodes
// take. One thread.
#pragma once
#include "analysis/question.h"
#include "report/table.h"
#include "snapshot/snapshot.h"

namespace dnheap {

inline constexpr u64 most_tree_levels = 1000;

report::Table held_tree_table(Snapshot &snapshot, const Question &question);

} // namespace dnheap
