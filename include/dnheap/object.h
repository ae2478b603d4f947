// Object: one object of the heap: its type, its references, its fields by name. A value of a few words, valid as long
// as its Snapshot; use it from the Snapshot's thread. Meant for single objects: to visit millions use Heap's blocks and
// Graph's arrays, which have no names. The first Object of a Snapshot costs a walk and the search for roots; then each
// question takes some µs, except referrers().
#pragma once
#include "dnheap/heap.h"

namespace dnheap::DNHEAP_ABI {

struct Reference {
  Address target = {};                      // not null; in a damaged heap it may lead to no object
  std::optional<std::uint64_t> offset = {}; // from the object's first byte; nullopt: not from a slot in the object
  std::string field = {};                   // "_items", "[17].value", "(dependent handle)"
};

struct FieldValue {
  std::string name = {};      // "StateMachine.held", "[17].key"
  std::string type_name = {}; // empty: unknown
  std::uint64_t offset = 0;   // from the object's first byte
  Address reference = {};     // what the field refers to; null: nothing, or it is not a reference
  std::string text = {};      // as C# would write it; empty: no value, or not in the dump. May be anybody's secret
};

class Object {
public:
  Address address() const { return address_; }
  ObjectId id() const { return id_; }
  Type type() const;
  std::uint64_t size() const;         // as ClrMD and SOS report it
  std::uint64_t aligned_size() const; // its size in the heap
  Generation generation() const;
  // Elements of an array, UTF-16 code units of a string; nullopt for other objects.
  std::optional<std::uint64_t> length() const;

  // Returns all its references with names, in field order; those in no field (dependent handles, assemblies that can be
  // unloaded) come last. At most `most`: an array may have hundreds of millions.
  std::vector<Reference> references(std::uint64_t most = 10000) const;
  // Returns the target of the first reference with that name: "_items", "[3]", "StateMachine.held". Nullopt: the object
  // has no such reference, or the reference is null.
  std::optional<Object> follow(std::string_view field) const;
  // Returns the objects that refer to it, by address. Reads every reference of the heap, in parallel, and keeps
  // nothing; for many objects use Graph::referrers().
  std::vector<Object> referrers() const;

  // Returns the fields with their values; fields inside a struct follow their struct. Empty for arrays.
  std::vector<FieldValue> fields() const;
  std::vector<FieldValue> elements(std::uint64_t most = 10000) const; // of an array
  // Returns the text of a string as UTF-8, at most `most` code units; nullopt for other objects.
  std::optional<std::string> string(std::uint64_t most = 1 << 20) const;
  // Returns the method that a delegate calls: "Shop.Cart.OnChanged"; empty for other objects.
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
