// ObjectId: an object's number: the rank of its address among all objects of the heap, Free ones not counted. Dense, so
// columns are arrays. Numbers of a search (depth-first, breadth-first) are other types.
#pragma once
#include "base/integers.h"

namespace dnheap {

enum class ObjectId : u32 {};

inline constexpr ObjectId no_object{~u32{0}};
// The largest number of objects that ids can distinguish; a larger heap is refused with a message.
inline constexpr u64 most_objects = ~u32{0};

} // namespace dnheap
