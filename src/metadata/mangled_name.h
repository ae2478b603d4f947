// Recovers type names from ILCompiler's mangled symbols: assembly, namespace, enclosing types and name, with '_' for
// every character that a C identifier must not contain. The replaced characters are lost, but each type stores the hash
// of its name, and only the right one of all possible spellings has it. dotnet/runtime
// src/coreclr/tools/aot/ILCompiler.Compiler/Compiler/NativeAotNameMangler.cs. A name costs up to some thousand hashes.
// Any thread.
#pragma once
#include "metadata/native_format.h"

namespace dnheap {

struct UnmangledTypeName {
  std::string name_space;
  std::vector<std::string> levels; // outermost first, with arity marks

  NativeTypeName view() const; // valid as long as this object
};

// Takes a type that is neither a generic instantiation nor an array:
// "S_P_CoreLib_System_Collections_Generic_Dictionary_2_Entry". Nullopt if no spelling has the hash, if several have it,
// or if there are too many to try. `steps_left` is shared by all names; a name takes some thousand steps, and a
// thousand take a third of a millisecond.
std::optional<UnmangledTypeName> unmangle_type_name(std::string_view mangled, u32 hash, NativeHashing how,
                                                    u64 &steps_left);

} // namespace dnheap
