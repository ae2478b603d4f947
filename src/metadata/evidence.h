// Evidence for a name: metadata says more of a type than what it is called, and what compilers never write is a sign of
// damage. Costs a few look-ups. Any thread.
#pragma once
#include "metadata/type_name.h"

namespace dnheap {

// False: malformed UTF-8, a control character, or punctuation that the compilers of C#, F# and Visual Basic put into no
// type's name or namespace, made-up ones included; an arity mark that does not fit the parameters; or no name at all.
bool is_plausible(std::span<const TypeNamePart> parts);

// May the type `rid` have the type `base_rid` of `base` as its base type? False only if its metadata names another one.
bool may_extend(const Metadata &metadata, u32 rid, const Metadata &base, u32 base_rid);

} // namespace dnheap
