// Object: one object of the heap: its type, what it refers to, its fields by name. A value of a few words, good as long
// as its Snapshot; use it from the Snapshot's thread. For single objects: whoever visits millions takes Heap's blocks
// and Graph's arrays, which have no names. The first Object of a Snapshot costs a walk and the look for roots; then
// each question takes some µs, but referrers().
#pragma once
#include "dnheap/heap.h"

namespace dnheap::DNHEAP_ABI {

struct Reference {
  Address target = {};                      // not null; in a damaged heap it may lead to no object
  std::optional<std::uint64_t> offset = {}; // from the object's first byte; nothing: no slot of the object says so
  std::string field = {};                   // "_items", "[17].value", "(dependent handle)"
};

struct FieldValue {
  std::string name = {};      // "StateMachine.held", "[17].key"
  std::string type_name = {}; // empty: cannot be told
  std::uint64_t offset = 0;   // from the object's first byte
  Address reference = {};     // what it refers to; null for null and for what is no reference
  std::string text = {};      // as C# would write it; empty: no value, or not in the dump. May be anybody's secret
};

class Object {
public:
  Address address() const { return address_; }
  ObjectId id() const { return id_; }
  Type type() const;
  std::uint64_t size() const;         // as ClrMD and SOS report it
  std::uint64_t aligned_size() const; // what it takes in the heap
  Generation generation() const;
  // Elements of an array, UTF-16 code units of a string; nothing for other objects.
  std::optional<std::uint64_t> length() const;

  // All that it refers to, in the order of its fields, named; what its fields do not say (dependent handles, assemblies
  // that can be unloaded) last. At most `most`: an array may have hundreds of millions.
  std::vector<Reference> references(std::uint64_t most = 10000) const;
  // Where the first reference of that name leads to: "_items", "[3]", "StateMachine.held". Nothing: it has no
  // such reference, or it is null.
  std::optional<Object> follow(std::string_view field) const;
  // Who refers to it, by address. Looks at every reference of the heap, in parallel, and keeps nothing; whoever asks
  // this of many takes Graph::referrers().
  std::vector<Object> referrers() const;

  // With their values; fields inside structs follow their struct. Empty for arrays.
  std::vector<FieldValue> fields() const;
  std::vector<FieldValue> elements(std::uint64_t most = 10000) const; // of an array
  // The text of a string, UTF-8, of `most` code units; nothing for other objects.
  std::optional<std::string> string(std::uint64_t most = 1 << 20) const;
  // What its delegate calls: "Shop.Cart.OnChanged"; empty for other objects.
  std::string delegate_text() const;

  bool operator==(const Object &) const = default;

private:
  friend class State;
  Object(State *state, ObjectId id, Address address) : state_(state), id_(id), address_(address) {}
  State *state_;
  ObjectId id_;
  Address address_;
};

} // namespace dnheap::DNHEAP_ABI
