// CollectionShapes: which types of the heap are collections, told by the name of a base type and by the fields that it
// has, so that subclasses and other versions are known too; and how full one of them is. What is called a collection
// but lacks the fields is named in unknown(), never guessed at. Built by one thread, in some µs per type; then read()
// by any, for some loads each; where elements lie in a chain, for some loads per link: all chains together are
// followed for no more links than the heap has objects, twice over.
#pragma once
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
  u64 elsewhere = 0;              // of these in other objects than `slots`: in earlier chunks of a builder
  std::optional<u64> capacity;    // nullopt: it has none, or none that could be wasted
  bool is_builder = false;        // of characters, not elements
  std::array<Address, 4> parts{}; // objects that belong to it alone: arrays, and what holds them; 0: none
  std::array<Address, 2> slots{}; // of these the arrays with one place per element
  u64 more_bytes = 0;             // of further parts: nodes, segments
  Address inner = 0;              // the collection that it wraps, or the chunk in front of this one; 0: none
};

class CollectionShapes {
public:
  // By the names of the type and its bases alone: for who asks about one object, and so needs no other type's name.
  static bool is_called_so(const Runtime &runtime, Address method_table);

  // `objects`: how many the heap has.
  CollectionShapes(const Runtime &runtime, const HeapTypes &types, u64 objects);

  bool is_collection(TypeId type) const { return find_shape(type) != nullptr; }
  // A node, reader, … that refers back to the collection to which it belongs, and so does not hold it.
  bool refers_back(TypeId type) const {
    const Shape *shape = find_shape(type);
    return shape && shape->kind == Kind::refers_back;
  }
  // Told with the collection that it is part of, and refers back to.
  bool is_inside(TypeId type) const {
    const Shape *shape = find_shape(type);
    return shape && shape->is_inside;
  }
  // The array that belongs to a segment of a collection; 0: the object is none.
  Address array_of_segment(const OpenedObject &object, Format format) const;
  // Nullopt: what it says cannot be.
  std::optional<CollectionFill> read(const OpenedObject &object, ReferenceReader &reader, Format format) const;
  // Bytes of one component of the type's objects; 0: no array.
  u32 component_size(TypeId type) const { return components_[static_cast<u32>(type)]; }
  // Names of types that should be collections, but have other fields.
  const std::vector<std::string> &unknown() const { return unknown_; }
  // What an answer says of them; `lost`: "nothing is told of its objects".
  std::vector<std::string> notes(const std::string &lost) const;

  enum class Kind : u8 {
    array,      // `count` elements in the array `first`, or in `first` and `second` alike
    hash_table, // `count` less `freed`, in `first`; `second`: the buckets
    concurrent, // `first`: tables
    builder,    // `count` characters in `first`, behind `freed` others, in the chunks from `third` on
    counted,    // `count`; `first`, `second`: arrays, or one of as many nodes
    rooted,     // `first`: a node that has the count
    wrapper,    // `first`: the collection
    segments,   // `first`: of a chain of segments
    links,      // `first`: of a chain of links
    tables,     // what belongs to such, and is none itself:
    node,       // `count`
    segment,    // `first`: the next; `second`: its array, full from `count` to `freed`, modulo its length
    link,       // `first`: the next
    refers_back,
  };
  struct Row;

private:
  // Offsets of fields from the object's first byte; 0: has none.
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
  mutable std::atomic<i64> steps_; // along chains, that are left
};

} // namespace dnheap
