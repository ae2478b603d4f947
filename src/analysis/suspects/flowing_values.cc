#include "analysis/suspects/flowing_values.h"

#include "analysis/names/compiled_names.h"
#include "analysis/objects/object_view.h"
#include "analysis/owners/ranked_owners.h"
#include "analysis/shapes/captured_values.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"
#include "objects/object_graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

bool is_flowing(const Suspect &s) { return s.owner.starts_with(what_flows) && !s.steps.empty(); }

// Returns the group of values whose type is that of the first step which is one; null if there is none.
const CapturedValues *value_of(const Suspect &s, const FoundCaptures &found) {
  for (const Suspect::Step &step : s.steps)
    for (const CapturedValues &group : found.groups)
      if (group.value_type == step.type)
        return &group;
  return nullptr;
}

// Maps contexts to the pending calls that refer to them, by name.
std::map<Address, std::map<std::string, u64>> carriers_of(const Snapshot &snapshot, const DominatorTree &tree,
                                                          std::span<const Address> contexts) {
  const Runtime &runtime = snapshot.runtime();
  const Edges edges = snapshot.graph().edges();
  ObjectView view(snapshot);
  std::map<Address, std::map<std::string, u64>> out;
  for (const TypedObject &box : objects_that(snapshot, [&](Address mt) {
         return runtime.is_continuation(mt) || runtime.types().name(mt).find("StateMachineBox<") != std::string::npos;
       })) {
    const ObjectId id = snapshot.index().find(box.address);
    if (id == no_object || !tree.place(id))
      continue;
    for (ObjectId to : edges.of(id))
      if (std::ranges::find(contexts, view.address(to)) != contexts.end())
        if (const std::string call = view.call_of(id); !call.empty())
          ++out[view.address(to)][call];
  }
  return out;
}

std::string carriers_text(const std::map<std::string, u64> &calls) {
  u64 sum = 0;
  for (const auto &[call, count] : calls)
    sum += count;
  const auto &[call, count] = *std::ranges::max_element(calls, {}, [](const auto &one) { return one.second; });
  return sum == 1
             ? "the pending call of " + call + " carries it"
             : fmt::format("{} pending calls carry it, {} of them of {}", count_text(sum), count_text(count), call);
}

} // namespace

void name_flowing_values(const Snapshot &snapshot, const DominatorTree &tree, std::span<Suspect> list) {
  std::vector<Address> contexts;
  for (const Suspect &s : list)
    if (is_flowing(s))
      contexts.push_back(s.steps[0].address);
  if (contexts.empty())
    return;
  const FoundCaptures found = find_captured_values(snapshot, 0, &tree);
  const std::map<Address, std::map<std::string, u64>> carriers = carriers_of(snapshot, tree, contexts);
  for (Suspect &s : list) {
    const CapturedValues *value = is_flowing(s) && s.remark.empty() ? value_of(s, found) : nullptr;
    if (!value)
      continue;
    s.remark = "by the AsyncLocal " + variable_in_words(value->local);
    if (const auto calls = carriers.find(s.steps[0].address); calls != carriers.end())
      s.remark += "; " + carriers_text(calls->second);
  }
}

} // namespace dnheap
