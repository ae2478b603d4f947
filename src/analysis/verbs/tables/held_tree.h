// `retained --tree`: the folded dominator tree (folded_tree.h; --raw: all steps), largest first, row by row in
// depth-first order. Nodes below a node are computed when their rows are due, and a level costs the memory of its
// nodes. Not for several threads at once.
#pragma once
#include "analysis/question.h"
#include "report/table.h"
#include "snapshot/snapshot.h"

namespace dnheap {

inline constexpr u64 most_tree_levels = 1000;

report::Table held_tree_table(const Snapshot &snapshot, const Question &question);

} // namespace dnheap
