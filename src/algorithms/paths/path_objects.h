// PathObjects: which objects are on the paths that a search found to some objects. All threads go up from the objects,
// each until it meets what was met before. Costs a look at each object on a path; two bits per object. Immutable.
#pragma once
#include "algorithms/paths/shortest_paths.h"

namespace dnheap {

struct PathObjects {
  // `instances`: objects that the search reached. Throws Interrupted.
  PathObjects(const ShortestPaths &found, u64 objects, std::span<const ObjectId> instances, unsigned threads,
              const Watch &watch);

  ObjectBits all;   // the instances, too
  ObjectBits inner; // from which a path leads on
};

} // namespace dnheap
