// EntryWalk: goes through one collection, and through those that it wraps, for collection_entries.cc. Each kind of
// collection is a row: its name, the function that reads it, and the fields that this function asks for.
#pragma once
#include "analysis/shapes/collections/collection_entries.h"

#include <array>
#include <functional>

namespace dnheap {

class EntryWalk {
public:
  EntryWalk(CollectionEntries &of, u64 most, CollectionContents &out);

  using Paths = std::array<const char *, 6>; // of fields; null: none
  struct Row {
    const char *type = "";                                                 // generic or not
    bool (EntryWalk::*read)(Address object, const Paths &paths) = nullptr; // false: fields are missing
    Paths paths{};
    const char *nested = ""; // the name of the nested type, if that one is the collection
  };
  // Returns the rows whose name the type or the nearest base has; they are alternatives.
  static std::span<const Row> rows_of(const Runtime &runtime, Address method_table);

  // Adds the entries of an object to those that there are.
  void read(Address object);

  // The kinds. Each one says which fields its paths are; in brackets: may be null.
  bool read_list(Address object, const Paths &paths);  // array, [count], [first], [key], [value]: within an element
  bool read_stack(Address object, const Paths &paths); // array, count: the last one comes first
  bool read_pairs(Address object, const Paths &paths); // array of keys, array of values, [count]
  bool read_slots(Address object, const Paths &paths); // array, count, [key], value, [next]: below -1 where it is free
  bool read_buckets(Address object, const Paths &paths);    // array, key, value: of a Hashtable
  bool read_tables(Address object, const Paths &paths);     // tables, buckets, [node], next, key, value
  bool read_chain(Address object, const Paths &paths);      // [first], next, [key], value
  bool read_stacked(Address object, const Paths &paths);    // next, value: ends before the node without a next one
  bool read_two_stacks(Address object, const Paths &paths); // forwards, backwards, next, value
  bool read_tree(Address object, const Paths &paths);       // root, left, right, [key], value
  // root, left, right, [key], value, [the root of a tree with further elements]; nodes without a left one are empty.
  bool read_immutable(Address object, const Paths &paths);
  bool read_queue(Address object, const Paths &paths);  // first segment, next, array, first, end, [sequence number]
  bool read_ring(Address object, const Paths &paths);   // first segment, next, array, first, end
  bool read_bag(Address object, const Paths &paths);    // first queue, next, array, first, end
  bool read_weak(Address object, const Paths &paths);   // container, array, count, handle, hash code
  bool read_cache(Address object, const Paths &paths);  // state, and tables of entries; of a MemoryCache
  bool read_inner(Address object, const Paths &paths);  // the collection
  bool read_keys(Address object, const Paths &paths);   // the dictionary
  bool read_values(Address object, const Paths &paths); // the dictionary
  bool read_nothing(Address, const Paths &) { return true; }

private:
  struct Array {
    Address at = 0, first = 0; // the object; its first element
    u64 length = 0;
    const EntryPlaces::Elements *elements = nullptr; // null: the array is null, or not one

    Address element(u64 i) const { return first + i * elements->shape.size; }
  };
  // Places in nodes of a kind: looked up again where the type changes.
  class Node {
  public:
    Node(EntryWalk &walk, std::initializer_list<const char *> paths) : walk_(walk), paths_(paths) {}
    // Returns false if one of the fields is missing.
    bool open(Address at);
    EntryPart part(u64 i) const { return {places_[i].type, at_ + places_[i].offset}; }
    Address reference(u64 i) const;
    bool has(u64 i) const { return places_[i].type != nullptr; }

  private:
    EntryWalk &walk_;
    const std::vector<const char *> paths_; // null: none
    std::vector<EntryPlace> places_;
    Address type_ = 0, at_ = 0;
  };
  struct Segment {
    Array array;
    u32 first = 0, end = 0;
  };

  // Returns false if it is not an array. A null one is empty.
  bool open(Address array, Array &out);
  std::optional<Address> reference(Address object, const char *field) { return fields_.reference(object, field); }
  std::optional<u32> open_counted(Address object, const Paths &paths, Array &array);
  std::optional<u32> count_in(Address object, const char *field, const Array &array);
  bool add_from(const Array &array, u64 first, u64 count, const char *key, const char *value);
  bool read_segments(Address object, const Paths &paths, const std::function<bool(const Segment &)> &visit);
  bool add_tree(Node &node, Address root, bool is_immutable, bool is_inner, const char *const *more);
  // Adds an entry; false: enough are there.
  bool add(const EntryPart &key, const EntryPart &value);
  void add_run(const CollectionEntry &first, u64 count, i64 key_step, i64 value_step);
  // Counts a node; false: there are more than there can be, or as many entries as asked for.
  bool may_go_on();
  bool damaged() {
    out_.state = CollectionContents::State::damaged;
    return true;
  }
  bool is_sound() const { return out_.state != CollectionContents::State::damaged; }

  CollectionEntries &of_;
  const Snapshot &snapshot_;
  const Runtime &runtime_;
  const Memory &memory_;
  FieldReader &fields_;
  EntryPlaces &places_;
  const u64 most_;
  u64 nodes_left_;
  u32 depth_ = 0;
  CollectionContents &out_;
};

} // namespace dnheap
