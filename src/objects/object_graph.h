// ObjectGraph: every object's references as arrays by ObjectId, for algorithms that visit the whole graph. Built in one
// parallel pass over the objects and one over the arrays; takes 8 bytes per object and 4 per reference, while it is
// built 8 and 8. Leaves out null and references that lead to no object; the latter are counted. Immutable; any thread.
#pragma once
#include "algorithms/edges.h"
#include "objects/object_index.h"
#include "objects/object_size_column.h"
#include "objects/references.h"

namespace dnheap {

class ObjectGraph {
public:
  // `holders`, ascending: objects whose references are left out. `sizes`, if given, has room for all objects and
  // receives their sizes on the way. Throws Interrupted, and Error when one object refers to more than 4 billion.
  ObjectGraph(const ObjectIndex &index, const References &references, const Heap &heap, unsigned threads,
              const Watch &watch, std::span<const Address> holders = {}, ObjectSizeColumn *sizes = nullptr);

  u64 objects() const { return types_.size(); }
  u64 bad_references() const { return bad_; }
  TypeId type(ObjectId object) const { return types_[static_cast<u32>(object)]; }
  // Prefetches the memory that type() will read.
  void prefetch_type(ObjectId object) const { __builtin_prefetch(&types_[static_cast<u32>(object)]); }
  std::span<const TypeId> types() const { return types_; }
  // A vertex's targets are in field order; dependent handles' secondaries and LoaderAllocators come last.
  Edges edges() const { return {first_, targets_, short_first_}; }

private:
  LargeArray<TypeId> types_;
  LargeArray<u64> first_;
  LargeArray<u32> short_first_; // usually used instead of first_
  LargeArray<ObjectId> targets_;
  u64 bad_ = 0;
};

// Edges reversed: the referrers of each object, ascending. Costs 8 bytes per object and 4 per reference, and a random
// access per reference.
class Referrers {
public:
  Referrers(const Edges &edges, unsigned threads, const Watch &watch);
  Edges edges() const { return {first_, sources_}; }

private:
  LargeArray<u64> first_;
  LargeArray<ObjectId> sources_;
};

} // namespace dnheap
