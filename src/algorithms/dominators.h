// solve_dominators: Lengauer and Tarjan's algorithm ("A fast algorithm for finding dominators in a flowgraph", 1979)
// with simple path compression: O(m log n) whatever the graph, no recursion. One thread solves while another sorts the
// cross edges that it will need next.
#pragma once
#include "algorithms/cross_edges.h"

namespace dnheap {

// Leaves the immediate dominator of each vertex, a DepthFirstNumber less than its own, in Vertex::bucket (vertex 0: 0);
// the other members of Vertex are without meaning then.
void solve_dominators(DepthFirst &search, const CrossEdges &edges, unsigned threads, const Watch &watch);

} // namespace dnheap
