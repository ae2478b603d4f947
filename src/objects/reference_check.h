// check_references: visits every object of an index once: do its references lead to objects, is the word in front of it
// sound? One parallel pass. Memory: a record for each of the first problems.
#pragma once
#include "base/watch.h"
#include "objects/collected_part.h"
#include "objects/header_check.h"
#include "objects/object_index.h"
#include "objects/references.h"

namespace dnheap {

enum class ReferenceProblem : u8 {
  outside,    // of every segment of the heap
  no_object,  // in a segment, but no object begins there
  free_space, // leads to a Free object: its object is gone
  unaligned   // no object can begin there
};

struct BadReference {
  Address object = 0, method_table = 0;
  Address slot = 0; // 0: a reference in no field: a dependent handle's, or one to a LoaderAllocator
  Address target = 0;
  ReferenceProblem problem = ReferenceProblem::outside;
};

struct ReferenceCheck {
  u64 objects = 0;    // objects visited, without Free
  u64 references = 0; // in fields and elements, not null
  u64 edges = 0;      // sum of mix(object, target) over these, wrapping: independent of their order
  u64 hidden = 0;     // references that lie in no field
  u64 bad = 0;
  u64 dead = 0;       // bad references and headers in objects that `live` lacks; not in `bad`
  u64 moving = 0;     // the same in objects that a collection was moving
  u64 unreadable = 0; // objects that differ from what the walk found: only if the dump has changed
  std::vector<BadReference> bad_references; // the first `most` by object and slot
  u64 bad_headers = 0;
  std::vector<BadHeader> headers;   // the first `most` by object
  std::vector<Address> undescribed; // whose GCDesc is damaged or missing, so their objects'
                                    // references are unknown
};

// Problems that are counted but are no damage.
struct NoDamage {
  // Only objects in `live` and frozen ones count as damaged: references of dead objects may dangle, which does no harm.
  const HeapBits *live = nullptr;
  const CollectedPart *collected = nullptr; // problems in objects that a collection was moving
};

// `is_walked`: true if the heap was walked at that address; elsewhere it is unknown where objects begin.
ReferenceCheck check_references(const Heap &heap, const Runtime &runtime, const ObjectIndex &index,
                                const References &references, const HeaderCheck &headers,
                                const std::function<bool(Address)> &is_walked, unsigned threads, const Watch &watch,
                                u64 most, const NoDamage &no_damage = {});

} // namespace dnheap
