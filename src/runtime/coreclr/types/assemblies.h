// Lists the loaded assemblies and their origin: by the folder of the file, the strong name, the name, in this order.
// Adds what the target publishes on each (.NET 11: Assembly.IsCollectible and its like,
// AssemblyBinder.AssemblyLoadContext). A look at each assembly's metadata, and at the name of each type of the
// program's own. Not from several threads at once: Loader1 caches.
#pragma once
#include "base/notes.h"
#include "runtime/coreclr/types/loaded_types.h"
#include "runtime/coreclr/types/loader_1.h"
#include "runtime/facts/assembly.h"

namespace dnheap {

// Returns the assemblies in load order. The reason for a list that ends early is added to `notes`.
std::vector<LoadedAssembly> loaded_assemblies(const Target &target, const ContractDescriptor &descriptor,
                                              const LoadedTypes &loaded, Loader1 &loader, Notes &notes);

} // namespace dnheap
