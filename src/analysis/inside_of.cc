#include "analysis/inside_of.h"

#include "analysis/inspect/base_types.h"

#include <algorithm>

namespace dnheap {

bool is_node_of_collection(std::string_view type) {
  constexpr std::string_view spaces[] = {"System.Collections.", "System.Threading.Tasks.", "System.Threading.Timer",
                                         "System.Runtime.CompilerServices.ConditionalWeakTable"};
  constexpr std::string_view parts[] = {"+Node",           "+Tables",     "+VolatileNode",  "+Entry",
                                        "LinkedListNode<", "+Container",  "+Segment",       "ConcurrentQueueSegment<",
                                        "+Slot",           "TimerHolder", "TimerQueueTimer"};
  auto begins = [&](std::string_view space) { return type.starts_with(space); };
  auto has = [&](std::string_view part) { return type.find(part) != type.npos; };
  return std::any_of(std::begin(spaces), std::end(spaces), begins) &&
         std::any_of(std::begin(parts), std::end(parts), has);
}

bool is_inside_of_collection(std::string_view type) { return type.ends_with("[]") || is_node_of_collection(type); }

bool has_arrays_inside(std::string_view type) {
  return (type.starts_with("System.Collections.") || type == "System.Text.StringBuilder") && !type.ends_with("[]");
}

Insides::Insides(const Runtime &runtime, const HeapTypes &types) {
  const BaseTypes bases(runtime);
  for (u32 i = 0; i < types.size(); ++i) {
    const Address mt = types[TypeId{i}].method_table;
    const std::string &name = runtime.types().name(mt);
    traits_.push_back({is_node_of_collection(name), name.ends_with("[]"),
                       has_arrays_inside(name) || bases.derives(mt, "System.MulticastDelegate")});
  }
}

bool Insides::is_inside(TypeId parent, TypeId child) const {
  if (!is_known(parent) || !is_known(child))
    return false;
  const Traits &of_parent = traits_[static_cast<u32>(parent)], &of_child = traits_[static_cast<u32>(child)];
  return of_child.is_node || (of_child.is_array && (of_parent.is_node || of_parent.has_arrays));
}

} // namespace dnheap
