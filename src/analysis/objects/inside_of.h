// Finds the inner objects of collections, delegates and tasks: nodes, buckets, arrays of entries. A developer wrote the
// collection, not these, so output for people folds them into it. A type's name decides, and whether it is a delegate.
#pragma once
#include "objects/heap_types.h"
#include "runtime/runtime.h"

#include <string_view>
#include <vector>

namespace dnheap {

// True for arrays, and for a part of .NET's collections, timers or weak tables that lies between them and their
// contents.
bool is_inside_of_collection(std::string_view type);
// The same without arrays, which may be the developer's own.
bool is_node_of_collection(std::string_view type);

// The properties of a type that decide what is folded.
struct InsideTraits {
  InsideTraits(std::string_view type, bool is_delegate);
  // True if `child`, to which an object of this type refers, is not a step of its own.
  bool folds(const InsideTraits &child) const { return child.is_node || (child.is_array && has_arrays); }

  bool is_node = false, is_array = false;
  bool has_arrays = false; // true if arrays that hang from it belong to it: for a List, a table of buckets, a
                           // StringBuilder, a delegate
};

// The same for all types of a heap. Names them all: some ms.
class Insides {
public:
  Insides(const Runtime &runtime, const HeapTypes &types);

  // True if an object of type `child` is not a step of its own after one of type `parent`. False if a type is unknown.
  bool is_inside(TypeId parent, TypeId child) const;
  bool is_node(TypeId type) const { return is_known(type) && traits_[static_cast<u32>(type)].is_node; }

private:
  bool is_known(TypeId type) const { return static_cast<u32>(type) < traits_.size(); }

  std::vector<InsideTraits> traits_; // by type
};

// The name of a reference from one node of a collection to the next in folded paths: the way through a tree does not
// show who holds its contents.
inline constexpr const char *node_to_node = ".(node)";

} // namespace dnheap
