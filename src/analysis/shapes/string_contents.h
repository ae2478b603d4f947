// Finds the types of strings (System.String, named by the type system) in the heap, and the characters of a string.
// string_types() asks for names, so it needs one thread; characters_of() runs in any.
#pragma once
#include "objects/references.h"
#include "runtime/string_object.h"

#include <optional>
#include <vector>

namespace dnheap {

// Returns a flag per TypeId.
std::vector<bool> string_types(const HeapTypes &types, const Runtime &runtime);

// Returns the characters as they lie in the target; nullopt if the length is impossible.
std::optional<Bytes> characters_of(const OpenedObject &string, const StringLayout &layout, ByteOrder order);

} // namespace dnheap
