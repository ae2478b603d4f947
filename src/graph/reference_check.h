// Every reference of every object, looked at once: does it lead to an object? Two parallel walks: one for the
// ObjectIndex, one over the references. Memory: the index, and a record for each of the first problems.
#pragma once
#include "graph/object_index.h"

#include <string>

namespace dnheap {

enum class ReferenceProblem : u8 {
  outside,   // of every segment of the heap
  no_object, // in a segment, but no object begins there
  free_space // to a Free object: what was there is gone
};

struct BadReference {
  Address object = 0, method_table = 0, slot = 0, target = 0;
  ReferenceProblem problem = ReferenceProblem::outside;
};

struct ReferenceCheck {
  u64 objects = 0;    // looked at; Free is none
  u64 references = 0; // not null
  u64 edges = 0;      // Σ over references of mix(object, target), wrapping: does not depend on the order
  u64 bad = 0;
  std::vector<BadReference> bad_references; // the first by address, `most` at most
  std::vector<Address> undescribed; // MethodTables whose GCDesc is damaged or missing: their objects' references
                                    // are unknown
};

ReferenceCheck check_references(const Heap &heap, const Runtime &runtime, const ObjectIndex &index, unsigned threads,
                                const Watch &watch, u64 most);

} // namespace dnheap
