// Every object of an index, looked at once: do its references lead to objects, is the word in front of it sound? One
// parallel pass. Memory: a record for each of the first problems.
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
  free_space, // to a Free object: what was there is gone
  unaligned   // no object can begin there
};

struct BadReference {
  Address object = 0, method_table = 0;
  Address slot = 0; // 0: a hidden reference, which lies in no field: of a dependent handle, or to a LoaderAllocator
  Address target = 0;
  ReferenceProblem problem = ReferenceProblem::outside;
};

struct ReferenceCheck {
  u64 objects = 0;    // looked at; Free is none
  u64 references = 0; // in fields and elements, not null
  u64 edges = 0;      // Σ over these of mix(object, target), wrapping: does not depend on the order
  u64 hidden = 0;     // references that lie in no field
  u64 bad = 0;
  u64 dead = 0;   // bad references and headers of objects that are not among those that count, which `bad` leaves out
  u64 moving = 0; // the same of what a collection was moving
  u64 unreadable = 0; // objects that are not what the walk found there: never, unless the dump changed meanwhile
  std::vector<BadReference> bad_references; // the first by object and slot, `most` at most
  u64 bad_headers = 0;
  std::vector<BadHeader> headers;   // the first by object, `most` at most
  std::vector<Address> undescribed; // MethodTables whose GCDesc is damaged or missing: their objects'
                                    // references are unknown
};

// Which problems are no damage, and only counted.
struct NoDamage {
  // Those of other objects, but for frozen ones: what dead ones refer to may be gone, as no collection minds it.
  const HeapBits *live = nullptr;
  const CollectedPart *collected = nullptr; // those of what is being moved
};

// `is_walked`: was the heap walked at that address? What lies elsewhere is not known to be an object.
ReferenceCheck check_references(const Heap &heap, const Runtime &runtime, const ObjectIndex &index,
                                const References &references, const HeaderCheck &headers,
                                const std::function<bool(Address)> &is_walked, unsigned threads, const Watch &watch,
                                u64 most, const NoDamage &no_damage = {});

} // namespace dnheap
