// Evidence for a name: metadata contains more about a type than its name, and names that compilers never write are a
// sign of damage. Costs a few look-ups. Any thread.
#pragma once
#include "metadata/type_name.h"

namespace dnheap {

// Returns false if the name is empty or malformed UTF-8, or if it has a control character or an arity mark that does
// not fit the parameters. Also false for punctuation that the compilers of C#, F# and Visual Basic use in no type name
// or namespace, not even in generated ones.
bool is_plausible(std::span<const TypeNamePart> parts);

// True if the type `rid` may have the type `base_rid` of `base` as its base type. False only if its metadata names
// another one.
bool may_extend(const Metadata &metadata, u32 rid, const Metadata &base, u32 base_rid);

} // namespace dnheap
