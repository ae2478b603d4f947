// What collections, delegates and tasks are made of inside: nodes, buckets, arrays of entries. A developer wrote the
// collection, not these, so they are folded into it where people read. By names of types, and whether a type is a
// delegate's.
#pragma once
#include "objects/heap_types.h"
#include "runtime/runtime.h"

#include <string_view>
#include <vector>

namespace dnheap {

// An array, or a part of .NET's collections, timers or weak tables that lies between them and what they hold.
bool is_inside_of_collection(std::string_view type);
// The same, but for arrays, which may be the developer's own.
bool is_node_of_collection(std::string_view type);

// What of a type decides what is folded.
struct InsideTraits {
  InsideTraits(std::string_view type, bool is_delegate);
  // Is `child`, which hangs from an object of this type, no step of its own?
  bool folds(const InsideTraits &child) const { return child.is_node || (child.is_array && has_arrays); }

  bool is_node = false, is_array = false;
  bool has_arrays =
      false; // arrays that hang from it belong to it: of a List, a table of buckets, a StringBuilder, a delegate
};

// The same for the types of a heap. Names them all: some ms.
class Insides {
public:
  Insides(const Runtime &runtime, const HeapTypes &types);

  // Is an object of type `child` no step of its own behind one of type `parent`? What is folded into nothing is: false.
  bool is_inside(TypeId parent, TypeId child) const;
  bool is_node(TypeId type) const { return is_known(type) && traits_[static_cast<u32>(type)].is_node; }

private:
  bool is_known(TypeId type) const { return static_cast<u32>(type) < traits_.size(); }

  std::vector<InsideTraits> traits_; // by type
};

// How a reference from one node of a collection to the next is called where paths are folded: which way a search goes
// through a tree says nothing of who holds what is in it.
inline constexpr const char *node_to_node = ".(node)";

} // namespace dnheap
