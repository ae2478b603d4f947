// Derives what is found by looking at all modules that an application has loaded: where a module has its statics before
// .NET 9, and its LoaderAllocator. See derivation.h.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

class Metadata;

// Null: it is not in the target.
using MetadataOf = std::function<const Metadata *(Address module)>;

// Needs derive_assemblies(). `modules`: all that the runtime lists.
void derive_loaded_modules(Derivation &derivation, std::span<const Address> modules, const MetadataOf &metadata_of);

} // namespace dnheap
