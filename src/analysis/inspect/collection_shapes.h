// CollectionShapes: which types of the heap are collections, told by the name of a base type and by the fields that it
// has, so that subclasses and other versions are known too; and how full one of them is. What is called a collection
// but lacks the fields is named in unknown(), never guessed at. Built by one thread, in some µs per type; then read()
// by any, for some loads each.
#pragma once
#include "objects/references.h"
#include "runtime/runtime.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct CollectionFill {
  u64 count = 0, capacity = 0;
  bool is_builder = false;        // of characters, not elements
  std::array<Address, 4> parts{}; // objects that belong to it alone: arrays, and what holds them; 0: none
  std::array<Address, 2> slots{}; // of these the arrays with one place per element
};

class CollectionShapes {
public:
  CollectionShapes(const Runtime &runtime, const HeapTypes &types);

  bool is_collection(TypeId type) const { return numbers_[static_cast<u32>(type)] != 0; }
  // Nullopt: what it says cannot be.
  std::optional<CollectionFill> read(const OpenedObject &object, ReferenceReader &reader, Format format) const;
  // Bytes of one component of the type's objects; 0: no array.
  u32 component_size(TypeId type) const { return components_[static_cast<u32>(type)]; }
  // Names of types that should be collections, but have other fields.
  const std::vector<std::string> &unknown() const { return unknown_; }
  // What an answer says of them; `lost`: "nothing is told of its objects".
  std::vector<std::string> notes(const std::string &lost) const;
  // All that are known, for notes and help.
  static std::string known();

private:
  enum class Kind : u8 { array, hash_table, concurrent, builder, tables };
  // Offsets of fields from the object's first byte; 0: has none.
  struct Shape {
    Kind kind = Kind::array;
    u32 count = 0, freed = 0, first = 0, second = 0, third = 0;
  };

  std::optional<Shape> shape_of(const Runtime &runtime, Address method_table, std::string_view name) const;
  bool read_concurrent(Address tables, ReferenceReader &reader, Format format, CollectionFill &out) const;

  std::vector<u16> numbers_;    // by TypeId: index in shapes_ + 1
  std::vector<u32> components_; // by TypeId
  std::vector<Shape> shapes_;
  std::vector<std::string> unknown_;
};

} // namespace dnheap
