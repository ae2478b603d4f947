// BufferOwners: types that own an array and write into it from its beginning, but are no collections: MemoryStream,
// ArrayBufferWriter. They are known by the name of a base type and by their fields. Built by one thread; read() in any.
#pragma once
#include "analysis/shapes/collections/collection_shapes.h"
#include "heap/heap_places.h"
#include "objects/references.h"
#include "runtime/runtime.h"

#include <optional>
#include <unordered_map>

namespace dnheap {

class BufferOwners {
public:
  BufferOwners(const Runtime &runtime, const HeapTypes &types);

  bool contain(TypeId type) const { return shapes_.contains(static_cast<u32>(type)); }
  // Returns how full its array is, counted in elements; nullopt: it is no owner, owns no array (one that it was given
  // belongs to others), or its numbers are impossible.
  std::optional<CollectionFill> read(const OpenedObject &object, ReferenceReader &reader, Format format) const;

private:
  struct Shape {
    u64 array = 0, length = 0, owns = 0; // offsets; `owns`: 0 if it always owns its array
  };
  std::unordered_map<u32, Shape> shapes_; // by TypeId
};

} // namespace dnheap
