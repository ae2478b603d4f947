// ObjectId: an object's number: the rank of its address among all objects of the heap, Free ones not counted. Dense, so
// columns are arrays. Numbers of a search (depth-first, breadth-first) are other types.
#pragma once
#include "base/integers.h"

namespace dnheap {

enum class ObjectId : u32 {};

inline constexpr ObjectId no_object{~u32{0}};
// What an id can tell apart; a heap with more objects is refused in words.
inline constexpr u64 most_objects = ~u32{0};

} // namespace dnheap
