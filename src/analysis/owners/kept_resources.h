// What should not be there a hundred times over, or not any more: AssemblyLoadContexts that were told to unload, HTTP
// clients that each have connections of their own, open connections to databases. So that a report can say why a
// suspect is one. A look at the type of each object; where there are many, at the referrers of these. One thread.
#pragma once
#include "algorithms/object_id.h"
#include "snapshot/snapshot.h"

#include <functional>
#include <string>
#include <vector>

namespace dnheap {

enum class KeptKind : u8 { context, http_client, db_connection };
inline constexpr u64 kept_kind_count = 3;
constexpr u64 index_of(KeptKind kind) { return static_cast<u64>(kind); }
// From so many on they are told. One context is one too many.
constexpr u64 least_kept(KeptKind kind) { return kind == KeptKind::context ? 1 : 100; }

struct KeptResources {
  // Ascending; empty where there are fewer than least_kept() in the whole heap. Of contexts that unload: what their
  // objects keep alive, their LoaderAllocators.
  std::vector<ObjectId> objects[kept_kind_count];
  // The field that holds most of them: "Shop.PaymentCall.client".
  std::string held_by[kept_kind_count];
};

// Of the objects that are alive.
KeptResources find_kept_resources(Snapshot &snapshot, const std::function<bool(ObjectId)> &is_alive);

} // namespace dnheap
