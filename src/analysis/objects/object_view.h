// ObjectView: one object at a time, with names: its type, its size, its references and their fields. For the verbs that
// show single objects and paths; hot loops use columns instead. Not for several threads at once.
#pragma once
#include "analysis/shapes/collections/collection_shapes.h"
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

// Returns the range of the heap that contains an object, or null. A binary search; any thread.
const ObjectRange *range_of(const Heap &heap, Address object);

class ObjectView {
public:
  explicit ObjectView(const Snapshot &snapshot);

  // Returns the object at an address, or the object that contains the address; in the latter case `note` says so.
  // Throws Error that says what is at the address instead.
  ObjectId at(Address address, std::string &note);

  Address address(ObjectId object) const { return index_.address(object); }
  Address method_table(ObjectId object); // 0: unreadable
  const std::string &type_name(ObjectId object);
  u64 size(ObjectId object);         // as ClrMD and SOS report it
  u64 aligned_size(ObjectId object); // its size in the heap
  const char *generation(ObjectId object) const;
  std::optional<u32> elements(ObjectId object); // of an array
  // Returns a collection's number of elements and its capacity; nullopt if the object is not a collection, or has an
  // unknown shape.
  std::optional<CollectionFill> fill(ObjectId object);

  // The names of references that no slot of an object has.
  static constexpr const char *to_loader_allocator = "(its assembly's LoaderAllocator)";
  static constexpr const char *to_dependent = "(dependent handle)";

  struct Reference {
    std::optional<u64> offset; // from the object's first byte; nullopt: no slot of the object has it
    Address target = 0;
    const char *hidden = nullptr; // without an offset: the reason why the object keeps the target alive
  };
  // Visits all references but null, including those that lead to no object, until visit() returns false.
  void for_each_reference(ObjectId object, const std::function<bool(const Reference &)> &visit);

  enum class Indices : u8 { folded, told };
  // Returns the field: "._items", "[17].value" (folded "[*].value"), "(dependent handle)".
  std::string field(ObjectId object, const Reference &reference, Indices indices);
  // Returns the field of the first reference from `from` to `to`; empty if there is none.
  std::string field_between(ObjectId from, ObjectId to, Indices indices);
  // Returns all fields with references from `from` to `to`: "._head, ._tail", "[0], [1], [2] and 14 more".
  std::string fields_between(ObjectId from, ObjectId to);
  // Returns a delegate's method "Shop.Cart.OnChanged", or several "Shop.View.OnChanged ×2,000, Shop.Log.Write", each
  // once, in order of first appearance; empty for anything else.
  const std::string &delegate_text(ObjectId object);
  u64 delegate_targets(ObjectId object); // how many methods it calls
  // Returns the method whose pending async call the object holds: "Shop.Cart.Pay"; empty for anything else.
  std::string call_of(ObjectId object);

private:
  struct Calls {
    std::string text;
    u64 targets = 0;
  };
  const Calls &calls(ObjectId object);

  const Snapshot &snapshot_;
  const ObjectIndex &index_;
  const References &references_;
  ReferenceReader reader_;
  Fields &fields_;
  SuspendedCalls suspended_;
  std::unordered_map<u32, Calls> calls_; // of delegates, by ObjectId: one may be on many paths
};

} // namespace dnheap
