// solve_dominators: semidominators as Lengauer and Tarjan find them ("A fast algorithm for finding dominators in a
// flowgraph", 1979), with simple path compression; then each dominator as the nearest common ancestor of parent and
// semidominator (semi-NCA: Georgiadis and Tarjan, 2005), with jump pointers (Myers, "An applicative random-access
// stack", 1983). O(m log n) whatever the graph, no recursion. One thread solves while another sorts the cross edges
// that it will need next.
#pragma once
#include "algorithms/cross_edges.h"

namespace dnheap {

// Leaves the immediate dominator of each vertex, a DepthFirstNumber less than its own, in Vertex::bucket (vertex 0: 0);
// the other members of Vertex are without meaning then.
void solve_dominators(DepthFirst &search, const CrossEdges &edges, unsigned threads, const Watch &watch);

} // namespace dnheap
