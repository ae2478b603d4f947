// KeptResources: objects that should not exist in large numbers, or should be gone: AssemblyLoadContexts that are
// unloading, HttpClients with connections of their own, open database connections. A report uses these to say why
// something is a suspect. Costs a look at the type of each object and, for HttpClients and database connections that
// reach their limit, at their referrers. Not for several threads at once.
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
// The number from which on a kind is reported. One unloading context is one too many.
constexpr u64 least_kept(KeptKind kind) { return kind == KeptKind::context ? 1 : 100; }

struct KeptResources {
  // Ascending; empty if the whole heap has fewer than least_kept() of the kind. For contexts: the LoaderAllocators,
  // because objects of a context's types keep these alive.
  std::vector<ObjectId> objects[kept_kind_count];
  // The field that holds most of them: "Shop.PaymentCall.client"; empty for contexts.
  std::string held_by[kept_kind_count];
};

// Looks at objects for which `is_alive` is true.
KeptResources find_kept_resources(const Snapshot &snapshot, const std::function<bool(ObjectId)> &is_alive);

} // namespace dnheap
