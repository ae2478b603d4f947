// The names of types, spelled as ClrMD 4.2 and the tools built on it (dotnet-dump) spell them:
//
//   System.Collections.Generic.Dictionary<System.String, System.Int32>+Entry[]
//
// * The namespace and a dot; enclosing types outermost first, with '+' between; arguments, with ", " between, stand
//   after the type that introduced the parameters, not after the last one.
// * A name's arity mark (`2) is dropped when it equals the number of parameters that this very level introduces;
//   otherwise it is part of the name. Names without the mark (F#, obfuscators) get their arguments all the same.
// * Unknown arguments are called T1, T2, ..., beginning with T1 at every level.
// * In metadata's own names , + & * [ ] \ get a backslash, as System.Type.FullName also writes them. C# makes such
//   names: <System-Collections-Generic-IEnumerable<KeyValuePair<System-String\,T>>-GetEnumerator>d__5.
//   Nothing else is changed: spaces, control characters, any Unicode stay (the code that prints a name escapes them).
// * An array is its element's name and [], or [,] with one comma fewer than the rank; [*] is an array of rank one that
//   is not a vector. Brackets are in the order of nesting, the innermost element's first: a vector of matrices, which
//   is int[][,] in C#, is System.Int32[,][] here and in System.Type.FullName.
// * A pointer is the name and *. A function pointer is, as in System.Type, System.Void(System.Int32, System.String).
//
// Where ClrMD's spelling loses something, ours does not (left ClrMD, right ours):
//   Outer<System.Int32>[][]         Outer<System.Int32>[][,]      ranks of arrays of generic types
//   Outer<System.Int32[][]>         Outer<System.Int32[][,,]>     ranks of arrays as arguments
//   System.Int32<*>                 System.Int32[*]
//   Outer`1[[System.Int32, ...]][*] Outer<System.Int32>[*]
//   Value`1[[System.Int32, ...]]*[] Value<System.Int32>*[]
//   Odd<T1>                         Odd`1                         a mark, but no parameters
//   Wrong<A, B, T3>                 Wrong`3<A, B>                 a mark that is too large
//   List<A\>                        List<A\,B>                    an argument whose name has an escaped comma
//   (none), or Outer<T1>            System.Void(System.Int32)[]   function pointers
//   Inner+Outer<T1>, (none)         Outer<System.Int32>+Inner     types of Reflection.Emit
//
// A name costs a few binary searches in the metadata and one string; nothing is cached. Any thread.
#pragma once
#include "metadata/ecma335.h"

#include <string>

namespace dnheap {

struct TypeNamePart {
  std::string_view name_space; // usually only the outermost part has one
  std::string_view name;       // without arity mark
  u32 own_arity = 0;           // parameters that this level introduces
};

// Returns the type and its enclosing types, outermost first; nesting deeper than 64 levels, or circular, is cut.
// `type`: a TypeDef, or a TypeRef (whose arity only its name states). Empty if the metadata has no row for `type`.
std::vector<TypeNamePart> type_name_parts(const Metadata &metadata, Token type);

// Makes the part of a level of which only the name is known: its mark gives the number of parameters.
TypeNamePart marked_type_name_part(std::string_view name_space, std::string_view name);

// `arguments`: those of all levels, outermost first, as an instantiation has them. Surplus ones go to the last level.
std::string format_type_name(std::span<const TypeNamePart> parts, std::span<const std::string> arguments);

std::string array_type_name(std::string_view element, u32 rank, bool is_vector);
std::string function_pointer_type_name(std::string_view returns, std::span<const std::string> parameters);

// Returns the name without arguments, arity marks kept, as System.Type.FullName has it: Namespace.Outer`1+Inner.
std::string type_name(const Metadata &metadata, Token type);
// Returns a name as people write it, without arity marks: Namespace.Outer+Inner.
std::string without_arity_marks(std::string_view name);

} // namespace dnheap
