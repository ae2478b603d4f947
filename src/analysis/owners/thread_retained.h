// ThreadRetained: the bytes that each thread alone keeps alive by its frames, registers and thread statics, over all
// its methods. Costs the graph of all references and a dominator tree of its own, in which each thread is one owner:
// some 10 s for 46 million objects. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <map>

namespace dnheap {

// Returns bytes by the address of the runtime's Thread. A thread that holds nothing alone has no entry.
std::map<Address, u64> retained_by_threads(const Snapshot &snapshot);

} // namespace dnheap
