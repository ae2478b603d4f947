#include "analysis/suspects/kept_by_handles.h"

#include "base/text.h"
#include "objects/object_index.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_handles = 100; // libraries have some that are never freed

bool is_of_runtime(std::string_view type) {
  constexpr std::string_view made_by_runtime[] = {"System.Reflection.", "System.Threading.Thread", "System.RuntimeType",
                                                  "System.Object[]"}; // the arrays of static fields
  return std::ranges::any_of(made_by_runtime, [&](std::string_view one) { return type.starts_with(one); });
}

} // namespace

std::string kept_by_handles(const Snapshot &snapshot, const DominatorTree &tree, TreePlace top, TypeId type) {
  if (is_of_runtime(snapshot.runtime().types().name(snapshot.references().types()[type].method_table)))
    return "";
  u64 strong = 0, pinned = 0;
  for (const Root &root : snapshot.roots().roots) {
    if (root.kind != RootKind::handle || (root.handle != HandleType::strong && root.handle != HandleType::pinned))
      continue;
    const ObjectId object = snapshot.index().find(root.object);
    const std::optional<TreePlace> at = object == no_object ? std::nullopt : tree.place(object);
    if (at && top < *at && *at < tree.end(top) && snapshot.graph().type(object) == type)
      ++(root.handle == HandleType::strong ? strong : pinned);
  }
  if (strong + pinned < least_handles)
    return "";
  return fmt::format("by {} GCHandles ({}) that nobody freed", count_text(strong + pinned),
                     !pinned   ? "strong"
                     : !strong ? "pinned"
                               : "strong and pinned");
}

} // namespace dnheap
