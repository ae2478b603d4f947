#include "analysis/objects/inside_of.h"

#include "analysis/shapes/base_types.h"

#include <algorithm>

namespace dnheap {

bool is_node_of_collection(std::string_view type) {
  constexpr std::string_view spaces[] = {"System.Collections.", "System.Threading.Tasks.", "System.Threading.Timer",
                                         "System.Threading.ThreadLocal<",
                                         "System.Runtime.CompilerServices.ConditionalWeakTable"};
  constexpr std::string_view parts[] = {"+Node",           "+Tables",     "+VolatileNode", "+Entry",
                                        "LinkedListNode<", "+Container",  "+Segment",      "ConcurrentQueueSegment<",
                                        "+Slot",           "+LinkedSlot", "TimerHolder",   "TimerQueueTimer"};
  auto begins = [&](std::string_view space) { return type.starts_with(space); };
  auto has = [&](std::string_view part) { return type.find(part) != type.npos; };
  return std::any_of(std::begin(spaces), std::end(spaces), begins) &&
         std::any_of(std::begin(parts), std::end(parts), has);
}

bool is_inside_of_collection(std::string_view type) { return type.ends_with("[]") || is_node_of_collection(type); }

InsideTraits::InsideTraits(std::string_view type, bool is_delegate)
    : is_node(is_node_of_collection(type)), is_array(type.ends_with("[]")),
      has_arrays(is_node || is_delegate ||
                 (!is_array && (type.starts_with("System.Collections.") || type == "System.Text.StringBuilder"))) {}

Insides::Insides(const Runtime &runtime, const HeapTypes &types) {
  const BaseTypes bases(runtime);
  for (u32 i = 0; i < types.size(); ++i) {
    const Address mt = types[TypeId{i}].method_table;
    traits_.emplace_back(runtime.types().name(mt), bases.derives(mt, "System.MulticastDelegate"));
  }
}

bool Insides::is_inside(TypeId parent, TypeId child) const {
  return is_known(parent) && is_known(child) &&
         traits_[static_cast<u32>(parent)].folds(traits_[static_cast<u32>(child)]);
}

} // namespace dnheap
