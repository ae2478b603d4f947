// What each thread alone keeps alive: by its frames, its registers and its thread statics, whatever method holds it.
// Costs the graph of all references and a dominator tree of its own, in which a thread is one owner: some 10 s for 46
// million objects. One thread.
#pragma once
#include "snapshot/snapshot.h"

#include <map>

namespace dnheap {

// Bytes, by the address of the runtime's Thread; of threads that hold nothing alone there is none.
std::map<Address, u64> retained_by_threads(Snapshot &snapshot);

} // namespace dnheap
