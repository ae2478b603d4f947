#include "analysis/suspects/kept_resources.h"

#include "analysis/shapes/base_types.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/resources.h"
#include "base/most_frequent.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"

#include <algorithm>
#include <map>
#include <set>

namespace dnheap {

namespace {

// Maps each TypeId to the index of the last of `bases` that the type derives from; bases.size() if none.
std::vector<u8> bases_by_type(const Snapshot &snapshot, std::span<const char *const> bases) {
  const HeapTypes &types = snapshot.references().types();
  const BaseTypes is(snapshot.runtime());
  std::vector<u8> out(types.size(), static_cast<u8>(bases.size()));
  for (u32 i = 0; i < types.size(); ++i)
    for (u8 base = 0; base < bases.size(); ++base)
      if (is.derives(types[TypeId{i}].method_table, bases[base]))
        out[i] = base;
  return out;
}

std::string most_held_by(const Snapshot &snapshot, const std::vector<ObjectId> &objects) {
  std::vector<HeldObject> asked;
  for (ObjectId object : objects)
    asked.push_back({snapshot.index().address(object), 1});
  HeldBy holders(snapshot, asked, {}, &snapshot.graph());
  std::map<std::string, u64> counts;
  for (const HeldObject &object : asked)
    ++counts[holders.of(object.address)];
  return most_frequent(counts)->first;
}

} // namespace

KeptResources find_kept_resources(const Snapshot &snapshot, const std::function<bool(ObjectId)> &is_alive) {
  constexpr const char *bases[] = {"System.Runtime.Loader.AssemblyLoadContext", "System.Net.Http.HttpClient",
                                   "System.Data.Common.DbConnection", "System.Reflection.LoaderAllocator"};
  const std::vector<u8> base_of = bases_by_type(snapshot, bases);
  std::vector<ObjectId> found[std::size(bases)];
  const std::span<const TypeId> types = snapshot.graph().types();
  for (u64 i = 0; i < types.size(); ++i)
    if (const u32 type = static_cast<u32>(types[i]);
        type < base_of.size() && base_of[type] < std::size(bases) && is_alive(ObjectId(static_cast<u32>(i))))
      found[base_of[type]].push_back(ObjectId(static_cast<u32>(i)));

  FieldReader fields(snapshot.runtime());
  auto keep_those = [&](std::vector<ObjectId> &objects, StateFunction state_of, std::string_view state) {
    std::erase_if(objects, [&](ObjectId object) {
      const std::optional<std::string> is = state_of(fields, snapshot.runtime(), snapshot.index().address(object));
      return !is || *is != state;
    });
  };
  keep_those(found[0], context_state, "collectible, unloading");
  keep_those(found[1], disposed_state, "in use");
  keep_those(found[2], connection_state, "open");
  // Connections belong to the handler. So clients that share a handler, as those of IHttpClientFactory do, count as
  // one.
  std::set<Address> handlers;
  std::erase_if(found[1], [&](ObjectId object) {
    const std::optional<Address> handler = fields.reference(snapshot.index().address(object), "_handler");
    return handler && !handlers.insert(*handler).second;
  });
  KeptResources out;
  for (KeptKind kind : {KeptKind::context, KeptKind::http_client, KeptKind::db_connection}) {
    const u64 k = index_of(kind);
    if (found[k].size() < least_kept(kind))
      continue;
    out.objects[k] = std::move(kind == KeptKind::context ? found[3] : found[k]);
    if (kind != KeptKind::context)
      out.held_by[k] = most_held_by(snapshot, out.objects[k]);
  }
  return out;
}

} // namespace dnheap
