#include "analysis/suspects/gone_targets.h"

#include "analysis/objects/weak_target.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"

#include <map>

namespace dnheap {

u64 count_gone_targets(const Snapshot &snapshot, const DominatorTree &tree, TreePlace top, const std::string &type) {
  constexpr u32 between_checks = 1 << 16;
  const ObjectGraph &graph = snapshot.graph();
  std::map<TypeId, Address> method_tables; // 0: of another name
  u64 out = 0;
  for (TreePlace at = top; at < tree.end(top); at = TreePlace{static_cast<u32>(at) + 1}) {
    if (static_cast<u32>(at) % between_checks == 0)
      snapshot.watch().check();
    const std::optional<ObjectId> object = tree.object(at);
    if (!object)
      continue;
    const auto [known, is_new] = method_tables.try_emplace(graph.type(*object));
    if (is_new) {
      const Address method_table = snapshot.references().types()[known->first].method_table;
      if (snapshot.runtime().types().name(method_table) == type)
        known->second = method_table;
    }
    if (known->second &&
        weak_target(snapshot.runtime(), snapshot.index().address(*object), known->second) == Address{0})
      ++out;
  }
  return out;
}

} // namespace dnheap
