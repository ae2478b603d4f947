// Which types of the heap are that of strings (System.String, told by the type system), and the characters of one of
// them. string_types() asks for names, so from one thread; characters_of() from any.
#pragma once
#include "objects/references.h"
#include "runtime/string_object.h"

#include <optional>
#include <vector>

namespace dnheap {

// By TypeId.
std::vector<bool> string_types(const HeapTypes &types, const Runtime &runtime);

// As they lie in the target; nullopt: its length is not sound.
std::optional<Bytes> characters_of(const OpenedObject &string, const StringLayout &layout, ByteOrder order);

} // namespace dnheap
