#include "analysis/inspectors/allocator_contents.h"

#include "algorithms/paths/shortest_paths.h"
#include "analysis/owners/path_steps.h"
#include "analysis/owners/ranked_paths.h"
#include "objects/object_index.h"
#include "objects/references.h"
#include "runtime/coreclr/loader_heaps.h"

namespace dnheap {

std::unordered_map<Address, Tally> objects_by_allocator(const Snapshot &snapshot) {
  std::unordered_map<Address, Address> allocators;
  const HeapTypes &types = snapshot.references().types();
  for (u32 i = 0; i < types.size(); ++i)
    if (const Address allocator = types[TypeId{i}].loader_allocator)
      allocators.emplace(types[TypeId{i}].method_table, allocator);
  std::unordered_map<Address, Tally> out;
  for (const TypeTally &type : snapshot.tally().types)
    if (const auto found = allocators.find(type.method_table); found != allocators.end()) {
      Tally &sum = out[found->second];
      sum.count += type.total().count;
      sum.bytes += type.total().bytes;
    }
  return out;
}

std::unordered_map<Address, u64> loader_bytes(const Runtime &runtime, const std::vector<Address> &natives) {
  std::unordered_map<Address, u64> out;
  for (const LoaderHeapBlock &block : loader_heaps_of(runtime.memory(), runtime.descriptor(), natives))
    out[block.allocator] += block.size;
  return out;
}

std::unordered_map<Address, std::string> ways_to_allocators(const Snapshot &snapshot,
                                                            const std::vector<Address> &objects) {
  std::unordered_map<Address, std::string> out;
  if (objects.empty())
    return out;
  const ObjectIndex &index = snapshot.index();
  std::shared_ptr<const RankedPaths> ways; // made if there are several objects
  if (objects.size() > 1)
    ways = ranked_paths(snapshot);
  std::vector<OwnedPath> paths;
  std::vector<Address> told;
  for (Address object : objects) {
    const ObjectId id = index.find(object);
    if (id == no_object)
      continue;
    if (std::optional<OwnedPath> path = ways ? ways->find(id) : find_ranked_path(snapshot, id).path) {
      paths.push_back(std::move(*path));
      told.push_back(object);
    }
  }
  ObjectView view(snapshot);
  std::vector<PathSteps> steps = path_steps(snapshot, view, paths);
  for (u64 i = 0; i < steps.size(); ++i) {
    for (PathStep &step : steps[i].steps)
      step.field = step.folded;
    out[told[i]] = path_text(steps[i]);
  }
  return out;
}

} // namespace dnheap
