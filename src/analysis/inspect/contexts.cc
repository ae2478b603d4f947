// `inspect contexts`: AssemblyLoadContexts, and whether they are to be unloaded.
#include "analysis/inspect/inspector.h"
#include "analysis/inspect/resources.h"

namespace dnheap {

std::optional<std::string> context_state(FieldReader &fields, const Runtime &, Address context) {
  const std::optional<u32> state = fields.number<u32>(context, "_state");
  const std::optional<u8> is_collectible = fields.number<u8>(context, "_isCollectible");
  if (!state || !is_collectible || *state > 1)
    return std::nullopt;
  const std::string what = *is_collectible ? "collectible" : "not collectible";
  return *state == 1 ? what + ", unloading" : what;
}

void inspect_contexts(Snapshot &snapshot, const Question &, report::Answer &answer) {
  constexpr ResourceKind kinds[] = {{"System.Runtime.Loader.AssemblyLoadContext", context_state}};
  add_resources(snapshot, "contexts", kinds, answer);
}

} // namespace dnheap
