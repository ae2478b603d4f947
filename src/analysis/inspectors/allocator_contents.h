// What belongs to LoaderAllocators, the objects that stand for collectible contexts and assemblies: objects, the
// runtime's memory; and the paths that keep them alive, and so what belongs to them. Throws Error, Interrupted. Not for
// several threads at once.
#pragma once
#include "heap/tally.h"
#include "snapshot/snapshot.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

constexpr u64 most_allocator_paths = 1000; // more paths are not put into words

// Returns the number and bytes of the objects whose types belong to each LoaderAllocator. Reads the tally.
std::unordered_map<Address, Tally> objects_by_allocator(const Snapshot &snapshot);

// Returns the bytes that the runtime reserved for types and methods of each LoaderAllocator, by its native part.
std::unordered_map<Address, u64> loader_bytes(const Runtime &runtime, const std::vector<Address> &natives);

// Returns the path that keeps each object alive, elements folded: "static
// Shop.Host.Stopping._invocationList[*]._target(its assembly's LoaderAllocator)". Unreachable objects have none. One
// search of the heap; of several objects, one of the graph.
std::unordered_map<Address, std::string> ways_to_allocators(const Snapshot &snapshot,
                                                            const std::vector<Address> &objects);

} // namespace dnheap
