// `retained --tree`: the dominator tree with the objects of one type below one node as one node, largest first; row by
// row, on the way down and up again. What collections are made of is folded into them, and a chain of one type is one
// node, unless --raw asks for each step. A list is as deep as it is long: what stands below a node is looked at when
// its rows are due, no function calls itself, and a level costs what its nodes take. One thread.
#pragma once
#include "analysis/question.h"
#include "report/table.h"
#include "snapshot/snapshot.h"

namespace dnheap {

inline constexpr u64 most_tree_levels = 1000;

report::Table held_tree_table(Snapshot &snapshot, const Question &question);

} // namespace dnheap
