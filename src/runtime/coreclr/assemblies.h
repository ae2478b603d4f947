// Which assemblies are loaded, and whose each is: by the folder of its file, its strong name, its name, in this order.
// Where the target publishes what it says of each (.NET 11: Assembly.IsCollectible and its like,
// AssemblyBinder.AssemblyLoadContext), that, too. A look at each assembly's metadata, and at the name of each type of
// the program's own. Not from several threads at once: Loader1 caches.
#pragma once
#include "runtime/assembly.h"
#include "runtime/coreclr/loaded_types.h"
#include "runtime/coreclr/loader_1.h"

namespace dnheap {

// In the order in which they were loaded. What ends the list early is added to `problems`.
std::vector<LoadedAssembly> loaded_assemblies(const Target &target, const ContractDescriptor &descriptor,
                                              const LoadedTypes &loaded, Loader1 &loader,
                                              std::vector<std::string> &problems);

} // namespace dnheap
