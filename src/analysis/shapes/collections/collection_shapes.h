// CollectionShapes: which types of the heap are collections, and how full one of them is. A collection is recognized by
// the name of a base type and by its fields, so that subclasses and other versions are known too. Types with a
// collection's name but without its fields are listed in unknown(), never guessed at. Built by one thread, in some µs
// per type; read() then runs in any thread and costs some loads, or some loads per link if the elements are in a chain.
// All reads together follow at most twice as many links as the heap has objects.
#pragma once
#include "base/notes.h"
#include "objects/references.h"
#include "runtime/runtime.h"

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct CollectionFill {
  u64 count = 0;
  u64 elsewhere = 0;              // how many of `count` are outside of `slots`: in earlier chunks of a builder
  std::optional<u64> capacity;    // nullopt: it has none, or none that could be wasted
  bool is_builder = false;        // it counts characters, not elements
  std::array<Address, 4> parts{}; // objects that belong to it alone: arrays, and their holders; 0: none
  std::array<Address, 2> slots{}; // those of `parts` that have one place per element
  u64 more_bytes = 0;             // of further parts: nodes, segments
  Address inner = 0;              // the collection that it wraps, or the builder's previous chunk; 0: none
};

class CollectionShapes {
public:
  // True if the type or one of its bases is called like a collection. For callers that ask about one object: reads no
  // other type's name.
  static bool is_called_so(const Runtime &runtime, Address method_table);

  // `objects`: number of objects in the heap.
  CollectionShapes(const Runtime &runtime, const HeapTypes &types, u64 objects);

  bool is_collection(TypeId type) const { return find_shape(type) != nullptr; }
  // True for a node, reader, … that refers back to its own collection, and so does not count as its holder.
  bool refers_back(TypeId type) const {
    const Shape *shape = find_shape(type);
    return shape && shape->kind == Kind::refers_back;
  }
  // True for a part that refers back to its collection and is reported with it.
  bool is_inside(TypeId type) const {
    const Shape *shape = find_shape(type);
    return shape && shape->is_inside;
  }
  // Returns the array that belongs to a segment of a collection; 0 if the object is no segment.
  Address array_of_segment(const OpenedObject &object, Format format) const;
  // Returns how full it is; nullopt if its contents are impossible.
  std::optional<CollectionFill> read(const OpenedObject &object, ReferenceReader &reader, Format format) const;
  // Returns the bytes of one component of the type's objects; 0 if they are no arrays.
  u32 component_size(TypeId type) const { return components_[static_cast<u32>(type)]; }
  // Returns the names of types that should be collections, but have other fields.
  const std::vector<std::string> &unknown() const { return unknown_; }
  // Returns notes about the types in unknown(). `lost` says what the answer does without: "its objects are left out".
  Notes notes(const std::string &lost) const;

  enum class Kind : u8 {
    array,      // `count` elements in the array `first`, or in each of `first` and `second`
    hash_table, // `count` less `freed` elements, in `first`; `second`: the buckets
    concurrent, // `first`: tables
    builder,    // `count` characters in `first`, after `freed` others in the chunks from `third` on
    counted,    // `count`; `first`, `second`: arrays, or the first of that many nodes
    rooted,     // `first`: a node with the count
    wrapper,    // `first`: the collection
    segments,   // `first`: the first of a chain of segments
    links,      // `first`: the first of a chain of links
    tables,     // from here on: parts of collections, which are not collections themselves
    node,       // `count`
    segment,    // `first`: the next one; `second`: its array, filled from `count` to `freed`, modulo its length
    link,       // `first`: the next one
    refers_back,
  };
  struct Row;

private:
  // Offsets of fields from the object's first byte; 0: no such field.
  struct Shape {
    Kind kind = Kind::array;
    u32 count = 0, freed = 0, first = 0, second = 0, third = 0;
    bool is_inside = false;
  };
  class Reading;

  const Shape *find_shape(TypeId type) const {
    const u16 number = numbers_[static_cast<u32>(type)];
    return number ? &shapes_[number - 1] : nullptr;
  }
  std::optional<Shape> shape_of(const Runtime &runtime, Address method_table, const Row &row) const;
  bool may_follow() const { return steps_.fetch_sub(1, std::memory_order_relaxed) > 0; }

  std::vector<u16> numbers_;    // by TypeId: index in shapes_ + 1
  std::vector<u32> components_; // by TypeId
  std::vector<Shape> shapes_;
  std::vector<std::string> unknown_;
  const u64 objects_;
  mutable std::atomic<i64> steps_; // links that may still be followed
};

} // namespace dnheap
