// Derives values that need a look at all loaded modules: the offset of a module's statics before .NET 9, and of its
// LoaderAllocator. See derivation.h.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

class Metadata;

// Null: the metadata is not in the target.
using MetadataOf = std::function<const Metadata *(Address module)>;

// Needs derive_assemblies(). `modules`: all that the runtime lists.
void derive_loaded_modules(Derivation &derivation, std::span<const Address> modules, const MetadataOf &metadata_of);

} // namespace dnheap
