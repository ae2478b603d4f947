// What keeps objects alive, as far as marking needs to know: the objects that handles of each kind and the finalization
// queues hold, and what dependent handles tie to what. Static fields of types that cannot be unloaded lie in arrays
// that handles hold. Costs time in proportion to the number of handles. Plain data.
#pragma once
#include "graph/dependents.h"
#include "graph/live.h"

namespace dnheap {

struct RootStages {
  std::vector<RootStage> stages; // precise ones, by kind; none is empty
  std::vector<Dependent> dependents;
  std::vector<std::string> problems; // what could not be read, in words
};

RootStages read_root_stages(const Runtime &runtime);

} // namespace dnheap
