#include "analysis/owners/thread_retained.h"

#include "algorithms/dominator_tree.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"
#include "objects/roots.h"

namespace dnheap {

// Owner numbers: each thread by its precise roots, then one for all that is no thread, then each thread by words that
// may be references by chance.
std::map<Address, u64> retained_by_threads(const Snapshot &snapshot) {
  const RootSet &roots = snapshot.roots();
  const ObjectGraph &graph = snapshot.graph();
  const ObjectIndex &index = snapshot.index();
  const u32 threads = static_cast<u32>(roots.threads.size()), precise = threads + 1;
  std::vector<OwnedRoot> owned;
  for (const Root &root : roots.roots)
    if (const ObjectId object = index.find(root.object); object != no_object) {
      const u32 owner = root.thread ? root.thread - 1 : threads;
      owned.push_back({object, OwnerId{root.is_conservative() ? precise + owner : owner}});
    }
  const DominatorTree tree(graph.edges(), snapshot.sizes(), Owners{2 * precise, precise, owned}, snapshot.threads(),
                           snapshot.watch());
  std::map<Address, u64> out;
  for (u32 i = 0; i < threads; ++i)
    if (const u64 bytes =
            tree.retained(tree.place(OwnerId{i})).bytes + tree.retained(tree.place(OwnerId{precise + i})).bytes)
      out[roots.threads[i].address] += bytes;
  return out;
}

} // namespace dnheap
