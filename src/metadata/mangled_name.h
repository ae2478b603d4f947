// Names of types as ILCompiler mangles them for symbols: assembly, namespace, enclosing types and name, with '_' for
// all that no identifier of C may have. What the '_' stood for is lost; but the type has the hash of its name, and of
// all spellings that the compiler could have mangled so, the right one has it. dotnet/runtime
// src/coreclr/tools/aot/ILCompiler.Compiler/Compiler/NativeAotNameMangler.cs. A name costs up to some thousand hashes.
// Any thread.
#pragma once
#include "metadata/native_format.h"

namespace dnheap {

struct UnmangledTypeName {
  std::string name_space;
  std::vector<std::string> levels; // outermost first, with arity marks

  NativeTypeName view() const; // valid as long as this
};

// Of a type that is no instance and no array: "S_P_CoreLib_System_Collections_Generic_Dictionary_2_Entry". Nullopt
// where no spelling has the hash, or more than one has, or there are too many to try. `steps_left` is for all names
// together; a name takes some thousand, and a thousand a third of a millisecond.
std::optional<UnmangledTypeName> unmangle_type_name(std::string_view mangled, u32 hash, NativeHashing how,
                                                    u64 &steps_left);

} // namespace dnheap
