// ObjectView: one object at a time, with names: its type, its size, what it refers to and by which field. For the
// verbs that show single objects and paths; the hot loops have columns instead. One thread.
#pragma once
#include "analysis/shapes/collection_shapes.h"
#include "analysis/shapes/suspended_calls.h"
#include "analysis/verb.h"
#include "objects/object_index.h"
#include "objects/references.h"
#include "objects/roots.h"
#include "runtime/fields.h"
#include "snapshot/snapshot.h"

#include <functional>
#include <unordered_map>

namespace dnheap {

// The range of the heap that an object lies in; null: none. A binary search; any thread.
const ObjectRange *range_of(const Heap &heap, Address object);

class ObjectView {
public:
  explicit ObjectView(Snapshot &snapshot);

  // The object at an address, or the one that the address points into: `note` says so then. Throws Error that says what
  // lies there instead.
  ObjectId at(Address address, std::string &note);

  Address address(ObjectId object) const { return index_.address(object); }
  Address method_table(ObjectId object); // 0: it cannot be read
  const std::string &type_name(ObjectId object);
  u64 size(ObjectId object);         // as ClrMD and SOS report it
  u64 aligned_size(ObjectId object); // what it takes in the heap
  const char *generation(ObjectId object) const;
  std::optional<u32> elements(ObjectId object); // of an array
  // How many elements a collection has, and room for how many; nullopt: it is none, or of an unknown shape.
  std::optional<CollectionFill> fill(ObjectId object);

  struct Reference {
    std::optional<u64> offset; // from the object's first byte; nullopt: no slot of the object says so
    Address target = 0;
    const char *hidden = nullptr; // without an offset: what keeps the target alive
  };
  // Not null; those that lead to no object, too. visit() returns false to end it.
  void for_each_reference(ObjectId object, const std::function<bool(const Reference &)> &visit);

  enum class Indices : u8 { folded, told };
  // "._items", "[17].value" ("[*].value" where folded), "(dependent handle)".
  std::string field(ObjectId object, const Reference &reference, Indices indices);
  // The first reference of `from` that leads to `to`; the empty text when there is none.
  std::string field_between(ObjectId from, ObjectId to, Indices indices);
  // All of them: "._head, ._tail", "[0], [1], [2] and 14 more".
  std::string fields_between(ObjectId from, ObjectId to);
  // "Shop.Cart.OnChanged" of a delegate, "Shop.View.OnChanged ×2,000, Shop.Log.Write" of one that calls several: alike
  // ones once, in the order of the first of each; empty of anything else.
  const std::string &delegate_text(ObjectId object);
  u64 delegate_targets(ObjectId object); // how many it calls
  // Of an object that a pending call of an async method is kept in, the method: "Shop.Cart.Pay"; empty of anything
  // else.
  std::string call_of(ObjectId object);

private:
  struct Calls {
    std::string text;
    u64 targets = 0;
  };
  const Calls &calls(ObjectId object);

  Snapshot &snapshot_;
  const ObjectIndex &index_;
  const References &references_;
  ReferenceReader reader_;
  Fields &fields_;
  SuspendedCalls suspended_;
  std::unordered_map<u32, Calls> calls_; // of delegates, by ObjectId: one may be met on many paths
};

} // namespace dnheap
