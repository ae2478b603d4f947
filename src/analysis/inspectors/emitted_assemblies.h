// Emitted assemblies: those that were made at run time by Reflection.Emit, in groups of alike names: AssemblyBuilders
// of the program, and those of libraries, for example of XmlSerializer. For each group whether the runtime can free it,
// and what keeps it from that. A walk of the heap, and a search of paths. Throws Error, Interrupted. Not for several
// threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

struct EmittedAssemblies {
  std::string name;  // "Rules*": a star is in place of numbers
  std::string maker; // "XmlSerializer"; empty: unknown
  std::optional<bool> is_collectible = {};
  std::string kept_by; // a path, as in allocator_contents.h; nobody_text; empty: unknown, or not collectible
  u64 count = 0, objects = 0, object_bytes = 0, loader_bytes = 0;
  Address allocator = 0; // of one; 0: unknown, or not collectible
};

// The largest group first.
std::vector<EmittedAssemblies> find_emitted_assemblies(const Snapshot &snapshot);

// "Rules*" for "Rules12" and "Rules7f3a09bc-01"; pure.
std::string name_pattern(std::string_view name);

} // namespace dnheap
