// solve_dominators: finds semidominators as Lengauer and Tarjan do ("A fast algorithm for finding dominators in a
// flowgraph", 1979), with simple path compression. Each dominator is then the nearest common ancestor of parent and
// semidominator (semi-NCA: Georgiadis and Tarjan, 2005), found with jump pointers (Myers, "An applicative random-access
// stack", 1983). O(m log n) for every graph, no recursion. One thread solves while another sorts the next cross edges.
#pragma once
#include "algorithms/cross_edges.h"

namespace dnheap {

// Stores the immediate dominator of each vertex, a DepthFirstNumber less than its own, in Vertex::dominator (vertex 0:
// 0). The other members of Vertex are undefined afterwards.
void solve_dominators(DepthFirst &search, const CrossEdges &edges, unsigned threads, const Watch &watch);

} // namespace dnheap
